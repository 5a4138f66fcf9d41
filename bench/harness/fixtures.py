"""The objects on the server: a ConfigMap, AppServices, and objects that no client reads."""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bench.harness.child_processes import ROOT
from bench.harness.load import Destination, in_parallel
from bench.harness.task import (
    CONFIG_MAP,
    CONFIG_MAP_KEY,
    CONFIG_MAP_VALUE,
    GROUP,
    NAMESPACE,
    PLURAL,
    VERSION,
    cache_summary,
)
from bench.peers.clients.steersman_client import AppService, Spec, Status, connected
from steersman.client import Client, has_condition, wait_for
from steersman.errors import NotFound
from steersman.kinds import Codec, CustomResource, Resource, Unstructured, apps_v1, core_v1, meta_v1
from steersman.units import Quantity, parse_time

HOME = f"/apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}/{PLURAL}"
# Without a status subresource, so that one write creates an object with its status.
CLIENTS_CRD = Path(__file__).with_name("appservices.crd.yaml")
# The CRD of the example operator.
OPERATORS_CRD = ROOT / "examples/appservice/deploy/crd/appservices.app.example.com.yaml"

OTHER_GROUP, OTHER_PLURAL = "other.example.com", "neighbors"
OTHERS_HOME = f"/apis/{OTHER_GROUP}/{VERSION}/namespaces/{NAMESPACE}/{OTHER_PLURAL}"


class OtherKind(CustomResource[Spec, Status], group=OTHER_GROUP, version=VERSION):
    """A kind with the fields of AppService, which no contender reads."""


CRD = Unstructured.of("apiextensions.k8s.io/v1", "CustomResourceDefinition", namespaced=False)

POLL_SECONDS = 0.1
SERVED_SECONDS = 30.0
# kube-apiserver delays creates of a kind that is younger than this.
NEW_SECONDS = 2.0


async def fill(kubeconfig: Path, *, apps: int, is_distinct: bool = False) -> None:
    """Create the ConfigMap, the kind and the AppServices."""
    async with connected(kubeconfig) as client:
        await client.create(
            core_v1.ConfigMap(
                metadata=meta_v1.ObjectMeta(name=CONFIG_MAP, namespace=NAMESPACE),
                data={CONFIG_MAP_KEY: CONFIG_MAP_VALUE},
            )
        )
        await install_crd(client, yaml.safe_load(CLIENTS_CRD.read_text()), AppService)
    await create_apps(kubeconfig, range(apps), is_distinct=is_distinct)


async def create_others(kubeconfig: Path, count: int) -> None:
    """Create objects of another kind, each as large as an AppService."""
    definition = CLIENTS_CRD.read_text()
    for word, other in (
        (GROUP, OTHER_GROUP),
        (PLURAL, OTHER_PLURAL),
        ("appservice", "neighbor"),
        ("AppService", "Neighbor"),
    ):
        definition = definition.replace(word, other)
    async with connected(kubeconfig) as client:
        await install_crd(client, yaml.safe_load(definition), OtherKind)
    apps = map(app_service, range(count))
    await _create(
        kubeconfig,
        OTHERS_HOME,
        (OtherKind(metadata=app.metadata, spec=app.spec, status=app.status) for app in apps),
    )


async def install_app_crd(kubeconfig: Path) -> None:
    """Install the CRD of the example operator."""
    async with connected(kubeconfig) as client:
        await install_crd(client, yaml.safe_load(OPERATORS_CRD.read_text()), AppService)


async def create_apps(
    kubeconfig: Path, numbers: Iterable[int], *, is_distinct: bool = False
) -> None:
    """Create the AppServices with the given numbers."""
    apps = (app_service(number, is_distinct=is_distinct) for number in numbers)
    await _create(kubeconfig, f"{HOME}?fieldManager=steersman", apps)


async def _create(kubeconfig: Path, path: str, objects: Iterable[Resource]) -> None:
    to, codec = Destination.of(kubeconfig), Codec()
    await in_parallel(to, (to.request("POST", path, codec.encode(obj)) for obj in objects))


async def install_crd(client: Client, definition: Any, kind: type[Resource | Unstructured]) -> None:
    """Install the CRD of ``kind``, and wait until the server creates objects without a delay."""
    crd = await client.create(CRD(definition))
    await wait_for(
        client, CRD, crd.name, has_condition("Established"), within_seconds=SERVED_SECONDS
    )
    async with asyncio.timeout(SERVED_SECONDS):
        while not await _is_served(client, kind):
            await client.clock.sleep(POLL_SECONDS)
    await client.clock.sleep(NEW_SECONDS)


async def _is_served(client: Client, kind: type[Resource | Unstructured]) -> bool:
    """Whether the server serves the kind, which it does shortly after it is established."""
    try:
        await client.list(kind)
    except NotFound:
        return False
    return True


def app_name(number: int) -> str:
    """The name of the AppService with this number."""
    return f"app-{number:05}"


@cache
def expected_cache(count: int) -> Mapping[str, int]:
    """The summary of a cache with the first ``count`` AppServices, distinct or not."""
    return cache_summary(
        (NAMESPACE, app_name(number), _image(number), _size(number)) for number in range(count)
    )


def _image(number: int) -> str:
    return f"registry.example.com/shop/{app_name(number)}:1.{number % 25}.0"


def _size(number: int) -> int:
    return number % 3 + 1


def app_service(number: int, *, is_distinct: bool = False) -> AppService:
    """An AppService with the status of a running one.

    Distinct AppServices have no text and no larger part of spec and status in common, except the
    type and the status of the condition.
    """
    name, size = app_name(number), _size(number)
    team, port, amount, mark = number % 40, number % 100, 0, ""
    if is_distinct:
        # The number replaces all repeated values. There are ports for more than 50,000 AppServices.
        team, port, amount, mark = number, number, number, str(number)
    # Each has its own transition time, as in a real cluster: a cache that stores equal parts once
    # has no advantage here.
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
