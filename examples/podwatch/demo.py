"""``steersman demo podwatch``: the worker prints the changes of Pods."""

import steersman as sm
from steersman import recipes
from steersman.kinds import core_v1
from steersman_cluster.demos import Demo, DemoContext

from podwatch.podwatch import watch_pods


async def run_example(services: sm.Services) -> None:
    """Run the example with the client of a manager."""
    await watch_pods(services.client, observe=services.observe)


async def steps(ctx: DemoContext) -> None:
    """Create, label and delete a Pod."""
    await ctx.step(
        "start the worker: the cache has mypod from an earlier run, and mypod no longer exists"
    )
    await ctx.until_printed("Pod default/mypod does not exist anymore")

    await ctx.step("create a Pod: it is added, scheduled and started; each enqueues its key")
    await ctx.apply(
        recipes.pod("web", core_v1.Container(name="main", image="nginx:1.29"), namespace="default")
    )
    await ctx.until(
        core_v1.Pod, "web", lambda pod: bool(pod.status and pod.status.phase == "Running")
    )
    await ctx.until_printed("Sync/Add/Update for Pod web")

    await ctx.step("label the Pod: the update enqueues its key again")
    await ctx.patch(core_v1.Pod, "web", {"metadata": {"labels": {"tier": "front"}}})
    await ctx.until_printed("Sync/Add/Update for Pod web")

    await ctx.step("delete the Pod: its key is enqueued, and the cache no longer has it")
    await ctx.delete(core_v1.Pod, "web")
    await ctx.until_gone(core_v1.Pod, "web")
    await ctx.until_printed("Pod default/web does not exist anymore")


demo = Demo(
    title="The work queue example: a worker prints the changes of Pods",
    manager=sm.Manager(runnables=[sm.Runnable(run_example)]),
    kinds=(core_v1.Pod,),
    steps=steps,
)
