"""An operator with a late cache does not create the children of a deleted owner again."""

from opdemo import appservice
from opdemo.appservice import AppService, Spec

from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman.wire import Request
from steersman_cluster.simulation import Actor, NoFaults, SimulatedCluster, simulate

SILENCE_SECONDS = 20.0
APP = AppService(
    metadata=meta_v1.ObjectMeta(name="web"),
    spec=Spec(image="nginx", ports=(core_v1.ServicePort(port=80),)),
)


class LateEvents(NoFaults):
    """Delays the deletion events of AppServices."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        self._cluster = cluster

    async def before_watch_event(self, actor: Actor, request: Request, piece: bytes) -> None:
        if request.path.endswith("/appservices") and b"DELETED" in piece:
            await self._cluster.clock.sleep(SILENCE_SECONDS)


def test_children_of_a_deleted_owner_are_not_created_again() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[int, list[str]]:
        cluster.fault_injector = LateEvents(cluster)
        await cluster.install(AppService)
        await cluster.run_operator(appservice.controller)
        await cluster.apply(APP)
        await cluster.settle()
        before = cluster.history_position()
        await cluster.delete(AppService, "web")
        await cluster.advance(2 * SILENCE_SECONDS)
        await cluster.settle()
        writes = [
            each for each in cluster.writes_since(before) if "/appservices" not in each.target
        ]
        kinds = (apps_v1.Deployment, apps_v1.ReplicaSet, core_v1.Pod)
        return len(writes), [each.name for kind in kinds for each in await cluster.list(kind)]

    writes, left = simulate(main)

    assert writes == 0
    assert left == []


def test_a_child_that_a_user_deletes_is_created_again() -> None:
    async def main(cluster: SimulatedCluster) -> bool:
        await cluster.install(AppService)
        await cluster.run_operator(appservice.controller)
        await cluster.apply(APP)
        await cluster.settle()
        before = await cluster.get(apps_v1.Deployment, "web")
        await cluster.delete(apps_v1.Deployment, "web")
        await cluster.settle()
        return (await cluster.get(apps_v1.Deployment, "web")).uid != before.uid

    assert simulate(main)
