"""An owner is gone, and its operator has not heard of it: it does not fight its children's end."""

from opdemo import appservice
from opdemo.appservice import AppService, Spec

from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman.wire import Request
from steersman_cluster.simulation import Actor, Calm, SimulatedWorld, simulate

SILENCE_SECONDS = 20.0
APP = AppService(
    metadata=meta_v1.ObjectMeta(name="web"),
    spec=Spec(image="nginx", ports=(core_v1.ServicePort(port=80),)),
)


class Late(Calm):
    """Of AppServices everything is heard late."""

    def __init__(self, world: SimulatedWorld) -> None:
        self._world = world

    async def telling(self, actor: Actor, request: Request, piece: bytes) -> None:
        if request.path.endswith("/appservices") and b"DELETED" in piece:
            await self._world.clock.sleep(SILENCE_SECONDS)


def test_children_of_an_owner_that_is_gone_are_not_made_again_and_again() -> None:
    async def main(world: SimulatedWorld) -> tuple[int, list[str]]:
        world.disturbance = Late(world)
        await world.install(AppService)
        await world.run_operator(appservice.controller)
        await world.apply(APP)
        await world.settle()
        before = world.moment()
        await world.delete(AppService, "web")
        await world.advance(2 * SILENCE_SECONDS)
        await world.settle()
        made = [each for each in world.writes_since(before) if "/appservices" not in each.target]
        kinds = (apps_v1.Deployment, apps_v1.ReplicaSet, core_v1.Pod)
        return len(made), [each.name for kind in kinds for each in await world.list(kind)]

    made, left = simulate(main)

    assert made == 0
    assert left == []


def test_a_child_that_somebody_deletes_comes_back() -> None:
    async def main(world: SimulatedWorld) -> bool:
        await world.install(AppService)
        await world.run_operator(appservice.controller)
        await world.apply(APP)
        await world.settle()
        before = await world.get(apps_v1.Deployment, "web")
        await world.delete(apps_v1.Deployment, "web")
        await world.settle()
        return (await world.get(apps_v1.Deployment, "web")).uid != before.uid

    assert simulate(main)
