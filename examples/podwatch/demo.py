"""What ``steersman demo podwatch`` shows: what happens to Pods, as the worker prints it."""

from steersman.kinds import core_v1, recipes
from steersman.manager import Manager, Runnable, Services
from steersman_cluster.demos import Demo, Stage

from podwatch.podwatch import watch_pods


async def watching(services: Services) -> None:
    """The example, with the client of a manager."""
    await watch_pods(services.client, observe=services.observe)


async def steps(stage: Stage) -> None:
    """A Pod comes, changes and goes."""
    await stage.step("the worker starts, and looks for a Pod that it knew in its last life")
    await stage.until_said("Pod default/mypod does not exist anymore")

    await stage.step("somebody creates a Pod: added, scheduled, started, one key each time")
    await stage.apply(
        recipes.pod("web", core_v1.Container(name="main", image="nginx:1.29"), namespace="default")
    )
    await stage.until(
        core_v1.Pod, "web", lambda pod: bool(pod.status and pod.status.phase == "Running")
    )
    await stage.until_said("Sync/Add/Update for Pod web")

    await stage.step("somebody labels it: one more look")
    await stage.patch(core_v1.Pod, "web", {"metadata": {"labels": {"tier": "front"}}})
    await stage.until_said("Sync/Add/Update for Pod web")

    await stage.step("somebody deletes it: the key is there, the object no longer")
    await stage.delete(core_v1.Pod, "web")
    await stage.gone(core_v1.Pod, "web")
    await stage.until_said("Pod default/web does not exist anymore")


demo = Demo(
    title="The work queue example: what happens to Pods, printed by a worker",
    manager=Manager(runnables=[Runnable(watching)]),
    kinds=(core_v1.Pod,),
    steps=steps,
)
