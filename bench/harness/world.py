"""What the contenders find on the server: a ConfigMap, and as many AppServices as asked for."""

import asyncio
from collections.abc import Iterable
from datetime import timedelta
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
)
from bench.peers.clients.steersman_client import AppService, Spec, Status, connected
from steersman.client import Client, has_condition, wait_for
from steersman.errors import NotFound
from steersman.kinds import Codec, Resource, Unstructured, apps_v1, core_v1, meta_v1
from steersman.units import Quantity, parse_time

HOME = f"/apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}/{PLURAL}"
# Without a status of its own, which is then made with the rest of the object in one write;
CLIENTS_CRD = Path(__file__).with_name("appservices.crd.yaml")
# and with all that the example operator's types say.
OPERATORS_CRD = ROOT / "examples/appservice/deploy/crd/appservices.app.example.com.yaml"

CRD = Unstructured.of("apiextensions.k8s.io/v1", "CustomResourceDefinition", namespaced=False)

POLL_SECONDS = 0.1
SERVED_SECONDS = 30.0


async def fill(kubeconfig: Path, *, apps: int) -> None:
    """Create everything."""
    async with connected(kubeconfig) as client:
        await client.create(
            core_v1.ConfigMap(
                metadata=meta_v1.ObjectMeta(name=CONFIG_MAP, namespace=NAMESPACE),
                data={CONFIG_MAP_KEY: CONFIG_MAP_VALUE},
            )
        )
        await serve(client, yaml.safe_load(CLIENTS_CRD.read_text()), AppService)
    await add_apps(kubeconfig, range(apps))


async def serve_apps_with_status(kubeconfig: Path) -> None:
    """Serve AppServices as the example operator declares them; create none."""
    async with connected(kubeconfig) as client:
        await serve(client, yaml.safe_load(OPERATORS_CRD.read_text()), AppService)


async def add_apps(kubeconfig: Path, numbers: Iterable[int]) -> None:
    """Create the AppServices with these numbers."""
    to, codec = Destination.of(kubeconfig), Codec()
    bodies = (codec.encode(app_service(number)) for number in numbers)
    path = f"{HOME}?fieldManager=steersman"
    await in_parallel(to, (to.request("POST", path, body) for body in bodies))


async def serve(client: Client, definition: Any, kind: type[Resource | Unstructured]) -> None:
    """Define ``kind``, and wait until the server knows it."""
    crd = await client.create(CRD(definition))
    await wait_for(
        client, CRD, crd.name, has_condition("Established"), within_seconds=SERVED_SECONDS
    )
    async with asyncio.timeout(SERVED_SECONDS):
        while not await _is_served(client, kind):
            await client.clock.sleep(POLL_SECONDS)


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


def app_service(number: int) -> AppService:
    """An AppService like any other, as it looks once it runs."""
    name = app_name(number)
    size = number % 3 + 1
    # Each was ready at a time of its own: who keeps equal parts once finds no more of them here
    # than in use.
    since = parse_time("2026-11-01T08:00:00Z") + timedelta(seconds=7 * number)
    return AppService(
        metadata=meta_v1.ObjectMeta(
            name=name,
            namespace=NAMESPACE,
            labels={"app.kubernetes.io/name": name, "team": f"team-{number % 40}"},
        ),
        spec=Spec(
            image=f"registry.example.com/shop/{name}:1.{number % 25}.0",
            size=size,
            ports=(core_v1.ServicePort(name="http", port=80, target_port=8000 + number % 100),),
            envs=(
                core_v1.EnvVar(name="LOG_LEVEL", value="info"),
                core_v1.EnvVar(name="DATABASE_HOST", value=f"db-{number % 40}.example.com"),
            ),
            resources=core_v1.ResourceRequirements(
                requests={"cpu": Quantity("100m"), "memory": Quantity("64Mi")},
                limits={"memory": Quantity("128Mi")},
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
                    reason="MinimumReplicasAvailable",
                    last_transition_time=since,
                ),
            ),
        ),
    )
