"""``steersman demo replicaset-from-scratch``: observe two, want three, create one."""

import steersman as sm
from steersman.kinds import core_v1
from steersman_cluster.demos import Demo, DemoContext

from replicaset.replicaset import PodSet, manager


async def steps(ctx: DemoContext) -> None:
    """A PodSet, from its first Pod to its last."""
    await ctx.step("apply web with two replicas: no Pod is observed, so two are created")
    await ctx.apply("samples/podset.yaml")
    await as_wanted(ctx)

    await ctx.step("set replicas to three: two are observed, one is created, three are reported")
    await ctx.patch(PodSet, "web", {"spec": {"replicas": 3}})
    await as_wanted(ctx)

    await ctx.step("delete web-0: two Pods are observed, so web-3 is created")
    await ctx.delete(core_v1.Pod, "web-0")
    await ctx.until(core_v1.Pod, "web-3", sm.is_ready)
    await as_wanted(ctx)

    await ctx.step("set replicas to two: the newest Pod is deleted")
    await ctx.patch(PodSet, "web", {"spec": {"replicas": 2}})
    await ctx.until_gone(core_v1.Pod, "web-3")
    await as_wanted(ctx)

    await ctx.step("delete web: its Pods are deleted one by one, and web after them")
    await ctx.delete(PodSet, "web")
    await ctx.until_gone(core_v1.Pod, "web-2")
    ctx.note("web-2 is deleted")
    await ctx.until_gone(core_v1.Pod, "web-1")
    ctx.note("web-1 is deleted")
    await ctx.until_gone(PodSet, "web")


async def as_wanted(ctx: DemoContext) -> None:
    """Wait until the PodSet is ready, and print its status."""
    found = await ctx.until(PodSet, "web", sm.is_ready)
    if found.status is not None:
        ctx.note(
            f"spec.replicas {found.spec.replicas}, status.replicas {found.status.replicas},"
            f" status.readyReplicas {found.status.ready_replicas}"
        )


demo = Demo(
    title="A ReplicaSet from scratch: observe two, want three, create one",
    manager=manager,
    kinds=(PodSet,),
    steps=steps,
)
