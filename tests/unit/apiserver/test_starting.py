"""What is there before anybody has asked for it."""

from steersman.apiserver import RevisionLog
from tests.embedded import MERGE_PATCH, World


async def test_a_new_cluster_has_its_namespaces_roles_and_its_own_service(world: World) -> None:
    namespaces = (await world.ask("GET", "/api/v1/namespaces")).names
    roles = (await world.ask("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles")).names
    service = await world.asked("GET", "/api/v1/namespaces/default/services/kubernetes")

    assert {"default", "kube-node-lease", "kube-public", "kube-system"} <= set(namespaces)
    assert {"admin", "cluster-admin", "edit", "view"} <= set(roles)
    assert service["spec"]["clusterIP"]


async def test_what_somebody_has_changed_is_left_as_it_is_by_the_next_start() -> None:
    log = RevisionLog()
    before = World(log=log)
    patch = {"metadata": {"labels": {"ours": "yes"}}}
    changed = await before.asked("PATCH", "/api/v1/namespaces/default", patch, sends=MERGE_PATCH)
    revision = log.revision

    after = World(log=log)

    assert await after.asked("GET", "/api/v1/namespaces/default") == changed
    assert log.revision == revision


async def test_what_somebody_has_deleted_is_put_back_by_the_next_start() -> None:
    log = RevisionLog()
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/view"
    await World(log=log).asked("DELETE", path)

    after = World(log=log)

    assert (await after.ask("GET", path)).status == 200
