"""Far more Pods than the nodes have capacity for."""

from collections import Counter

import pytest

from steersman.kinds import apps_v1, core_v1, events_v1, is_ready, recipes
from steersman.units import Quantity
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.simulation.simulated_cluster import WORKLOADS
from steersman_cluster.workloads import WorkloadSettings

Deployment = apps_v1.Deployment
Pod = core_v1.Pod

WHY = (
    "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available:"
    " 2 No preemption victims found for incoming pod."
)


def deployment(name: str, *, replicas: int, cpu: str | None = None) -> Deployment:
    requests = {"cpu": Quantity(cpu)} if cpu is not None else None
    container = core_v1.Container(
        name="main", image="nginx", resources=core_v1.ResourceRequirements(requests=requests)
    )
    return recipes.deployment(name, container, replicas=replicas)


async def conditions(cluster: SimulatedCluster, name: str) -> dict[str, tuple[str, str | None]]:
    status = (await cluster.get(Deployment, name)).status
    found = (status.conditions if status is not None else None) or ()
    return {each.type: (each.status, each.reason) for each in found}


def unschedulable_message(pod: Pod) -> str | None:
    """The message of an unschedulable Pod."""
    for each in (pod.status.conditions if pod.status is not None else None) or ():
        if (each.type, each.status, each.reason) == ("PodScheduled", "False", "Unschedulable"):
            return each.message
    return None


@pytest.mark.deep
def test_five_thousand_unschedulable_pods_have_a_reason_and_starve_no_other_pods() -> None:
    async def main(cluster: SimulatedCluster) -> None:
        # Both exist when the controllers start, so neither has priority by age.
        (controllers,) = [each for each in cluster.operators if each.name == WORKLOADS]
        await controllers.kill()
        await cluster.apply(deployment("crowd", replicas=5000, cpu="1"))
        await cluster.apply(deployment("small", replicas=2))
        before = len(cluster.history)
        controllers.again()
        await cluster.settle()
        writes = cluster.history.writes(since=before)
        on_time = await conditions(cluster, "crowd")
        await cluster.advance(601)
        await cluster.settle()
        late = await conditions(cluster, "crowd")

        pods = await cluster.list(Pod)
        assert Counter(map(unschedulable_message, pods)) == {WHY: 4984, None: 18}
        notes = {
            each.note for each in await cluster.list(events_v1.Event) if each.type == "Warning"
        }
        assert notes == {WHY}
        assert on_time["Available"] == ("False", "MinimumReplicasUnavailable")
        assert on_time["Progressing"] == ("True", "ReplicaSetUpdated")
        assert late["Progressing"] == ("False", "ProgressDeadlineExceeded")
        assert is_ready(await cluster.get(Deployment, "small"))
        # The Pods of the small one were bound long before the crowd had all its conditions.
        small = [place for place, each in enumerate(writes) if "/small" in each.target]
        assert max(small) < len(writes) / 10

    simulate(main, settings=WorkloadSettings(nodes=2, routine_events=False))
