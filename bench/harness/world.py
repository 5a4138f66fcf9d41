"""What the contenders find on the server: a ConfigMap, and as many AppServices as asked for.

And, where that is asked for, objects of another kind, which no client reads.
"""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bench.harness.children import ROOT
from bench.harness.load import Destination, in_parallel
from bench.harness.task import (
    CONFIG_MAP,
    CONFIG_MAP_KEY,
    CONFIG_MAP_VALUE,
    GROUP,
    NAMESPACE,
    PLURAL,
    VERSION,
    held,
)
from bench.peers.clients.steersman_client import AppService, Spec, Status, connected
from steersman.client import Client, has_condition, wait_for
from steersman.errors import NotFound
from steersman.kinds import Codec, CustomResource, Resource, Unstructured, apps_v1, core_v1, meta_v1
from steersman.units import Quantity, parse_time

HOME = f"/apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}/{PLURAL}"
# Without a status of its own, which is then made with the rest of the object in one write;
CLIENTS_CRD = Path(__file__).with_name("appservices.crd.yaml")
# and with all that the example operator's types say.
OPERATORS_CRD = ROOT / "examples/appservice/deploy/crd/appservices.app.example.com.yaml"

OTHER_GROUP, OTHER_PLURAL = "other.example.com", "neighbours"
OTHERS_HOME = f"/apis/{OTHER_GROUP}/{VERSION}/namespaces/{NAMESPACE}/{OTHER_PLURAL}"


class Neighbour(CustomResource[Spec, Status], group=OTHER_GROUP, version=VERSION):
    """What an AppService is, and of no concern to anyone here."""


CRD = Unstructured.of("apiextensions.k8s.io/v1", "CustomResourceDefinition", namespaced=False)

POLL_SECONDS = 0.1
SERVED_SECONDS = 30.0
# While a kind is as young as this, kube-apiserver delays all creates as long.
NEW_SECONDS = 2.0


async def fill(kubeconfig: Path, *, apps: int, is_distinct: bool = False) -> None:
    """Create everything; the AppServices as ``app_service`` has them."""
    async with connected(kubeconfig) as client:
        await client.create(
            core_v1.ConfigMap(
                metadata=meta_v1.ObjectMeta(name=CONFIG_MAP, namespace=NAMESPACE),
                data={CONFIG_MAP_KEY: CONFIG_MAP_VALUE},
            )
        )
        await serve(client, yaml.safe_load(CLIENTS_CRD.read_text()), AppService)
    await add_apps(kubeconfig, range(apps), is_distinct=is_distinct)


async def add_others(kubeconfig: Path, count: int) -> None:
    """Create so many objects of another kind, each as large as an AppService."""
    definition = CLIENTS_CRD.read_text()
    for word, other in (
        (GROUP, OTHER_GROUP),
        (PLURAL, OTHER_PLURAL),
        ("appservice", "neighbour"),
        ("AppService", "Neighbour"),
    ):
        definition = definition.replace(word, other)
    async with connected(kubeconfig) as client:
        await serve(client, yaml.safe_load(definition), Neighbour)
    apps = map(app_service, range(count))
    await _create(
        kubeconfig,
        OTHERS_HOME,
        (Neighbour(metadata=app.metadata, spec=app.spec, status=app.status) for app in apps),
    )


async def serve_apps_with_status(kubeconfig: Path) -> None:
    """Serve AppServices as the example operator declares them; create none."""
    async with connected(kubeconfig) as client:
        await serve(client, yaml.safe_load(OPERATORS_CRD.read_text()), AppService)


async def add_apps(kubeconfig: Path, numbers: Iterable[int], *, is_distinct: bool = False) -> None:
    """Create the AppServices with these numbers."""
    apps = (app_service(number, is_distinct=is_distinct) for number in numbers)
    await _create(kubeconfig, f"{HOME}?fieldManager=steersman", apps)


async def _create(kubeconfig: Path, path: str, objects: Iterable[Resource]) -> None:
    to, codec = Destination.of(kubeconfig), Codec()
    await in_parallel(to, (to.request("POST", path, codec.encode(obj)) for obj in objects))


async def serve(client: Client, definition: Any, kind: type[Resource | Unstructured]) -> None:
    """Define ``kind``, and wait until the server knows it, and creates one at once."""
    crd = await client.create(CRD(definition))
    await wait_for(
        client, CRD, crd.name, has_condition("Established"), within_seconds=SERVED_SECONDS
    )
    async with asyncio.timeout(SERVED_SECONDS):
        while not await _is_served(client, kind):
            await client.clock.sleep(POLL_SECONDS)
    await client.clock.sleep(NEW_SECONDS)


async def _is_served(client: Client, kind: type[Resource | Unstructured]) -> bool:
    """What is established is served a moment later."""
    try:
        await client.list(kind)
    except NotFound:
        return False
    return True


def app_name(number: int) -> str:
    """What the AppService with this number is called."""
    return f"app-{number:05}"


@cache
def apps_held(count: int) -> Mapping[str, int]:
    """What a cache says that holds the first ``count`` AppServices, distinct or not."""
    return held(
        (NAMESPACE, app_name(number), _image(number), _size(number)) for number in range(count)
    )


def _image(number: int) -> str:
    return f"registry.example.com/shop/{app_name(number)}:1.{number % 25}.0"


def _size(number: int) -> int:
    return number % 3 + 1


def app_service(number: int, *, is_distinct: bool = False) -> AppService:
    """An AppService like any other, as it looks once it runs.

    Of one that ``is_distinct``, no text and nothing larger in its spec and its status is like that
    of another, but for the type and the status of its condition.
    """
    name, size = app_name(number), _size(number)
    team, port, amount, mark = number % 40, number % 100, 0, ""
    if is_distinct:
        # All that repeats, by its number. That leaves ports for more than 50,000 of them.
        team, port, amount, mark = number, number, number, str(number)
    # Each was ready at a time of its own: who keeps equal parts once finds no more of them here
    # than in use.
    since = parse_time("2026-11-01T08:00:00Z") + timedelta(seconds=7 * number)
    return AppService(
        metadata=meta_v1.ObjectMeta(
            name=name,
            namespace=NAMESPACE,
            labels={"app.kubernetes.io/name": name, "team": f"team-{team}"},
        ),
        spec=Spec(
            image=_image(number),
            size=size,
            ports=(core_v1.ServicePort(name=f"http{mark}", port=80, target_port=8000 + port),),
            envs=(
                core_v1.EnvVar(name=f"LOG_LEVEL{mark}", value=f"info{mark}"),
                core_v1.EnvVar(name=f"DATABASE_HOST{mark}", value=f"db-{team}.example.com"),
            ),
            resources=core_v1.ResourceRequirements(
                requests={
                    "cpu": Quantity(f"{100 + amount}m"),
                    "memory": Quantity(f"{64 + amount}Mi"),
                },
                limits={"memory": Quantity(f"{128 + amount}Mi")},
            ),
        ),
        status=Status(
            observed_generation=1,
            replicas=size,
            updated_replicas=size,
            ready_replicas=size,
            available_replicas=size,
            conditions=(
                apps_v1.DeploymentCondition(
                    type="Available",
                    status="True",
                    reason=f"MinimumReplicasAvailable{mark}",
                    last_transition_time=since,
                ),
            ),
        ),
    )
