"""What ``steersman demo replicaset-from-scratch`` shows: observe two, want three, create one."""

import steersman as sm
from steersman.kinds import core_v1
from steersman_cluster.demos import Demo, Stage

from replicaset.replicaset import PodSet, manager


async def steps(stage: Stage) -> None:
    """A PodSet, from its first Pod to its last."""
    await stage.step("somebody wants two Pods: none is observed, so two are created")
    await stage.apply("samples/podset.yaml")
    await as_wanted(stage)

    await stage.step("somebody wants three: two are observed, one is created, three are reported")
    await stage.patch(PodSet, "web", {"spec": {"replicas": 3}})
    await as_wanted(stage)

    await stage.step("somebody deletes web-0: two are observed once more, so web-3 comes")
    await stage.delete(core_v1.Pod, "web-0")
    await stage.until(core_v1.Pod, "web-3", sm.is_ready)
    await as_wanted(stage)

    await stage.step("somebody wants two again: the newest goes")
    await stage.patch(PodSet, "web", {"spec": {"replicas": 2}})
    await stage.gone(core_v1.Pod, "web-3")
    await as_wanted(stage)

    await stage.step("somebody deletes it: before it goes, its Pods end one after the other")
    await stage.delete(PodSet, "web")
    await stage.gone(core_v1.Pod, "web-2")
    stage.note("web-2 has ended")
    await stage.gone(core_v1.Pod, "web-1")
    stage.note("web-1 has ended")
    await stage.gone(PodSet, "web")


async def as_wanted(stage: Stage) -> None:
    """Wait until there are as many as it wants, and say what is reported."""
    found = await stage.until(PodSet, "web", sm.is_ready)
    if found.status is not None:
        stage.note(
            f"spec.replicas {found.spec.replicas}, status.replicas {found.status.replicas},"
            f" status.readyReplicas {found.status.ready_replicas}"
        )


demo = Demo(
    title="A ReplicaSet from scratch: observe two, want three, create one",
    manager=manager,
    kinds=(PodSet,),
    steps=steps,
)
