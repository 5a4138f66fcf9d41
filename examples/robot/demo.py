"""``steersman demo robot``: drift, deletion and a name conflict of two Robots."""

import steersman as sm
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman_cluster.demos import Demo, DemoContext

from robot_operator.controller import run_robots
from robot_operator.robot import Robot, Spec

# Names the Deployment of robot-one.
ROBOT_TWO = Robot(
    metadata=meta_v1.ObjectMeta(name="robot-two", namespace="default"),
    spec=Spec(deployment_name="robot-one"),
)


async def steps(ctx: DemoContext) -> None:
    """Two Robots, from creation to deletion."""
    await ctx.step("apply robot-one, a Robot with two replicas")
    await ctx.apply("artifacts/examples/robotone.yaml")
    await ctx.until(Robot, "robot-one", sm.is_ready)

    await ctx.step("set its replicas to three")
    await ctx.patch(Robot, "robot-one", {"spec": {"replicas": 3}})
    await ctx.until(Robot, "robot-one", sm.is_ready)

    await ctx.step("set its replicas to -1: the API server rejects it")
    await ctx.expect_rejection(ctx.patch(Robot, "robot-one", {"spec": {"replicas": -1}}))

    await ctx.step("scale its Deployment to one: the controller restores three")
    changed = await ctx.patch(apps_v1.Deployment, "robot-one", {"spec": {"replicas": 1}})
    await ctx.until(
        apps_v1.Deployment,
        "robot-one",
        lambda found: found.generation > changed.generation and sm.is_ready(found),
    )

    await ctx.step("delete its Deployment: the controller creates it again")
    await ctx.delete(apps_v1.Deployment, "robot-one")
    await ctx.until_back(apps_v1.Deployment, "robot-one", not_uid=changed.uid)
    await ctx.until(Robot, "robot-one", sm.is_ready)

    await ctx.step("apply robot-two with the same Deployment: robot-one keeps it")
    await ctx.apply(ROBOT_TWO)
    rejected = await ctx.until(Robot, "robot-two", lambda found: found.status is not None)
    ctx.note((rejected.status and rejected.status.conditions[0].message) or "")

    await ctx.step("delete robot-one: its Deployment is deleted, and robot-two gets the name")
    await ctx.delete(Robot, "robot-one")
    await ctx.until(Robot, "robot-two", sm.is_ready)

    await ctx.step("delete robot-two: its Deployment and Pods are deleted")
    await ctx.delete(Robot, "robot-two")
    await ctx.until_gone(apps_v1.Deployment, "robot-one")
    await ctx.until_all(core_v1.Pod, lambda pods: not pods)


operator = sm.Runnable(lambda services: run_robots(services.client, observe=services.observe))

demo = Demo(
    title="Robots in Deployments, with informers, listers and a work queue",
    manager=sm.Manager(runnables=[operator]),
    kinds=(Robot,),
    below=(apps_v1.Deployment,),
    steps=steps,
)
