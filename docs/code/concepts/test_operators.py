"""Tests of the code in the page about operators."""

from docs.code.concepts.operators import Quorum, Spec, controller
from steersman.kinds import core_v1, meta_v1
from steersman_cluster.simulation import Cluster


class Votes:
    """A database of three members. It records whether the Pod of a leaving member still runs."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.voting = ["db-0", "db-1", "db-2"]
        self.left_in_time: dict[str, bool] = {}

    async def members(self) -> list[str]:
        return [*self.voting]

    async def leave(self, member: str) -> None:
        self.left_in_time[member] = await self.cluster.find(core_v1.Pod, member) is not None
        self.voting.remove(member)


def quorum(members: int) -> Quorum:
    return Quorum(metadata=meta_v1.ObjectMeta(name="db"), spec=Spec(members=members))


async def test_a_member_leaves_before_its_pod_is_deleted(cluster: Cluster) -> None:
    votes = Votes(cluster)
    await cluster.install(Quorum)
    await cluster.run_operator(controller(votes))
    await cluster.apply(quorum(3))
    await cluster.settle()

    await cluster.apply(quorum(2))
    await cluster.settle()

    assert votes.left_in_time == {"db-2": True}
    assert {pod.name for pod in await cluster.list(core_v1.Pod)} == {"db-0", "db-1"}
    found = await cluster.get(Quorum, "db")
    assert found.status is not None
    assert found.status.members == 2
