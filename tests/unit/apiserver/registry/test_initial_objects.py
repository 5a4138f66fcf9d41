"""The objects of a new cluster."""

from random import Random
from typing import Any

import msgspec

from steersman.observe import ignore
from steersman.wire import CertificateIdentity, Request
from steersman_cluster.apiserver import (
    ApiServer,
    NoWebhookTransport,
    RevisionLog,
    ServerOptions,
)
from tests.clocks import FakeClock
from tests.embedded import MERGE_PATCH, EmbeddedServer


async def test_a_new_cluster_has_namespaces_roles_and_the_kubernetes_service(
    api: EmbeddedServer,
) -> None:
    namespaces = (await api.ask("GET", "/api/v1/namespaces")).names
    roles = (await api.ask("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles")).names
    service = await api.asked("GET", "/api/v1/namespaces/default/services/kubernetes")

    assert {"default", "kube-node-lease", "kube-public", "kube-system"} <= set(namespaces)
    assert {"admin", "cluster-admin", "edit", "view"} <= set(roles)
    assert service["spec"]["clusterIP"]


async def test_a_restart_keeps_changed_initial_objects() -> None:
    log = RevisionLog()
    before = EmbeddedServer(log=log)
    patch = {"metadata": {"labels": {"ours": "yes"}}}
    changed = await before.asked("PATCH", "/api/v1/namespaces/default", patch, sends=MERGE_PATCH)
    revision = log.revision

    after = EmbeddedServer(log=log)

    assert await after.asked("GET", "/api/v1/namespaces/default") == changed
    assert log.revision == revision


async def test_a_restart_restores_deleted_initial_objects() -> None:
    log = RevisionLog()
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/view"
    await EmbeddedServer(log=log).asked("DELETE", path)

    after = EmbeddedServer(log=log)

    assert (await after.ask("GET", path)).status == 200


SERVICE = "/api/v1/namespaces/default/services/kubernetes"
SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"


def started(log: RevisionLog, *, port: int) -> ApiServer:
    """Return a server with an address that is reachable from other machines."""
    return ApiServer(
        log=log,
        tokens={},
        clock=FakeClock(),
        rng=Random(0),
        observe=ignore,
        outbound=NoWebhookTransport(),
        options=ServerOptions(advertise_address="192.0.2.1", secure_port=port),
    )


async def read(server: ApiServer, path: str) -> Any:
    admin = CertificateIdentity(common_name="admin", organizations=("system:masters",))
    request = Request(method="GET", path=path, query=(), headers=(), body=None)
    return msgspec.json.decode((await server.handle(request, certificate=admin)).body)


async def test_the_kubernetes_service_has_the_port_of_the_last_start() -> None:
    log = RevisionLog()
    first = await read(started(log, port=1234), SERVICE)

    moved = started(log, port=5678)

    service, endpoint_slice = await read(moved, SERVICE), await read(moved, SLICE)
    assert first["spec"]["ports"][0]["targetPort"] == 1234
    assert service["spec"]["ports"][0] == {
        "name": "https",
        "protocol": "TCP",
        "port": 443,
        "targetPort": 5678,
    }
    assert service["spec"]["clusterIP"] == first["spec"]["clusterIP"]
    assert endpoint_slice["ports"][0]["port"] == 5678
    assert endpoint_slice["metadata"]["generation"] == 2
    revision = log.revision
    started(log, port=5678)
    assert log.revision == revision
