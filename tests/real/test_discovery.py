"""Discovery: the served kinds, in both formats, and kinds that are added later."""

from contextlib import AbstractAsyncContextManager
from random import Random
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from steersman.client import Client, Discovery, RestMapper
from steersman.clock import SystemClock
from steersman.errors import UnknownKind
from steersman.kinds import Unstructured
from steersman.kinds.apiextensions_v1 import CustomResourceDefinition
from steersman.wire import NetworkTransport, Request, Response, TlsSettings, Transport, tls_context
from steersman_cluster.testing import RealControlPlane
from tests.real.clients import connected
from tests.real.definitions import ANYTHING, GROUP, definition, install, version
from tests.real.recording_observer import RecordingObserver

POLL_SECONDS = 0.1
# Longer than a server needs to update both formats, shorter than the timeout of a test.
WITHIN_SECONDS = 60.0


class LegacyDiscoveryTransport:
    """Removes the request for aggregated discovery, which API servers before 1.26 do not have."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    def open(self, request: Request) -> AbstractAsyncContextManager[Response]:
        others = tuple(header for header in request.headers if header[0] != "Accept")
        return self._inner.open(replace(request, headers=(*others, ("Accept", "application/json"))))


class AdvancedClock(SystemClock):
    """The system clock plus an offset."""

    def __init__(self) -> None:
        self.offset_seconds = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.offset_seconds


async def discover_as_before_1_26(plane: RealControlPlane) -> Discovery:
    credentials = plane.credentials
    tls = tls_context(
        TlsSettings(
            ca_data=credentials.ca_file.read_bytes(),
            client_certificate=credentials.client_certificate_file.read_bytes(),
            client_key=credentials.client_key_file.read_bytes(),
        ),
        source="the control plane",
    )
    async with NetworkTransport(clock=SystemClock(), server=plane.url, tls=lambda: tls) as network:
        client = Client(
            LegacyDiscoveryTransport(network),
            clock=SystemClock(),
            rng=Random(0),
            observe=lambda _: None,
        )
        return await client.discover()


async def discover_kind(client: Client, kind: str) -> Discovery:
    """Wait until discovery has the kind: a server serves a kind before its discovery has it."""
    while (found := await client.discover()).of_kind(f"{GROUP}/v1", kind) is None:
        await client.clock.sleep(POLL_SECONDS)
    return found


async def test_every_kind_is_discovered_with_all_its_attributes(client: Client) -> None:
    discovery = await client.discover()

    deployments = discovery.of_kind("apps/v1", "Deployment")
    assert deployments is not None
    assert deployments.resource_type.plural == "deployments"
    assert deployments.resource_type.namespaced
    assert (deployments.singular, deployments.short_names) == ("deployment", ("deploy",))
    assert deployments.categories == ("all",)
    assert set(deployments.subresources) == {"scale", "status"}
    assert {"create", "deletecollection", "patch", "watch"} <= set(deployments.verbs)
    nodes = discovery.of_kind("v1", "Node")
    assert nodes is not None
    assert not nodes.resource_type.namespaced


async def test_legacy_discovery_returns_the_same_kinds(
    client: Client, control_plane: RealControlPlane, widgets: None
) -> None:
    def in_order(discovery: Discovery) -> list[str]:
        return sorted(map(repr, discovery.resources))

    ends_at = client.clock.monotonic() + WITHIN_SECONDS
    while True:
        legacy = await discover_as_before_1_26(control_plane)
        aggregated = await discover_kind(client, "Widget")
        # Kinds that earlier tests deleted disappear from the two formats at different times.
        if in_order(legacy) == in_order(aggregated) or client.clock.monotonic() > ends_at:
            break
        await client.clock.sleep(POLL_SECONDS)

    assert in_order(legacy) == in_order(aggregated)


@pytest.mark.parametrize(
    ("word", "api_version", "kind"),
    [
        ("pods", "v1", "Pod"),
        ("pod", "v1", "Pod"),
        ("Pod", "v1", "Pod"),
        ("po", "v1", "Pod"),
        ("deploy", "apps/v1", "Deployment"),
        ("deployments.apps", "apps/v1", "Deployment"),
        ("deployments.v1.apps", "apps/v1", "Deployment"),
        ("events", "v1", "Event"),
        ("events.events.k8s.io", "events.k8s.io/v1", "Event"),
        ("hpa", "autoscaling/v2", "HorizontalPodAutoscaler"),
        ("hpa.v1.autoscaling", "autoscaling/v1", "HorizontalPodAutoscaler"),
        ("wd", f"{GROUP}/v1", "Widget"),
    ],
)
async def test_a_resource_name_resolves_as_in_kubectl(
    client: Client, widgets: None, word: str, api_version: str, kind: str
) -> None:
    found = (await discover_kind(client, "Widget")).named(word)

    assert found is not None
    assert (found.resource_type.gvk.api_version, found.resource_type.gvk.kind) == (
        api_version,
        kind,
    )


async def test_a_discovered_class_reads_objects(client: Client) -> None:
    discovery = await client.discover()

    listing = await client.list(discovery.class_of("v1", "Namespace"))

    assert "default" in [each.name for each in listing.items]
    with pytest.raises(UnknownKind, match=r"missing.example.com/v1 Ghost"):
        discovery.class_of("missing.example.com/v1", "Ghost")


async def test_an_irregular_plural_is_discovered(client: Client, octopodes: None) -> None:
    await discover_kind(client, "Octopus")
    mapper = RestMapper(client)

    octopus = await mapper.of_kind(f"{GROUP}/v1", "Octopus")

    assert octopus.resource_type.plural == "octopodes"
    assert not octopus.resource_type.namespaced


async def test_the_mapper_finds_the_resource_of_an_unstructured_object(
    client: Client, namespace: str
) -> None:
    mapper = RestMapper(client)
    body = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "closed", "namespace": namespace},
        "spec": {"podSelector": {}},
    }

    created = await client.create(await mapper.unstructured(body))

    assert type(created).resource_type.plural == "networkpolicies"
    assert created.get("spec", "policyTypes") == ["Ingress"]


async def wait_for_class(mapper: RestMapper, clock: AdvancedClock, kind: str) -> type[Unstructured]:
    """Wait until discovery has the kind: its definition was established just before."""
    while True:
        clock.offset_seconds += 60.0
        try:
            return await mapper.class_of(f"{GROUP}/v1", kind)
        except UnknownKind:
            await clock.sleep(POLL_SECONDS)


async def test_a_kind_that_appears_later_is_found(
    control_plane: RealControlPlane, seen: RecordingObserver
) -> None:
    clock = AdvancedClock()
    async with connected(control_plane, observe=seen, clock=clock) as client:
        mapper = RestMapper(client)
        with pytest.raises(UnknownKind, match="Install its CRD"):
            await mapper.class_of(f"{GROUP}/v1", "Latecomer")

        await install(client, definition("Latecomer", "latecomers", version(spec=ANYTHING)))
        latecomer = await wait_for_class(mapper, clock, "Latecomer")

        assert issubclass(latecomer, Unstructured)
        assert (await client.list(latecomer)).items == ()
        await client.delete(CustomResourceDefinition, f"latecomers.{GROUP}")


def test_the_kubernetes_service_has_the_servers_port(
    control_plane: RealControlPlane,
) -> None:
    service = "/api/v1/namespaces/default/services/kubernetes"
    with control_plane.caller() as api:
        # A real server creates it a few seconds after its start.
        while (found := api.call("GET", service)).status == 404:
            pass
        addresses = api.call("GET", "/api").json()["serverAddressByClientCIDRs"]

    address = urlsplit(control_plane.url)
    assert found.json()["spec"]["ports"][0]["targetPort"] == address.port
    assert [each["serverAddress"] for each in addresses] == [address.netloc]
