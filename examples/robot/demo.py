"""What the robot operator does, on a cluster of its own: ``steersman demo robot``."""

from steersman.kinds import apps_v1, core_v1, is_ready, meta_v1
from steersman.manager import Manager, Runnable
from steersman_cluster.demos import Demo, Stage

from robot_operator.controller import run_robots
from robot_operator.robot import Robot, Spec

# Wants what robot-one has.
ROBOT_TWO = Robot(
    metadata=meta_v1.ObjectMeta(name="robot-two", namespace="default"),
    spec=Spec(deployment_name="robot-one"),
)


async def steps(stage: Stage) -> None:
    """The life of two Robots."""
    await stage.step("somebody applies robot-one, a Robot of two replicas")
    await stage.apply("artifacts/examples/robotone.yaml")
    await stage.until(Robot, "robot-one", is_ready)

    await stage.step("somebody wants three of it")
    await stage.patch(Robot, "robot-one", {"spec": {"replicas": 3}})
    await stage.until(Robot, "robot-one", is_ready)

    await stage.step("somebody asks for -1 of it, which no Robot can be")
    await stage.refused(stage.patch(Robot, "robot-one", {"spec": {"replicas": -1}}))

    await stage.step("somebody scales its Deployment behind its back, and that is put right")
    changed = await stage.patch(apps_v1.Deployment, "robot-one", {"spec": {"replicas": 1}})
    await stage.until(
        apps_v1.Deployment,
        "robot-one",
        lambda found: found.generation > changed.generation and is_ready(found),
    )

    await stage.step("somebody deletes its Deployment, which comes back")
    await stage.delete(apps_v1.Deployment, "robot-one")
    await stage.until_back(apps_v1.Deployment, "robot-one", not_uid=changed.uid)
    await stage.until(Robot, "robot-one", is_ready)

    await stage.step("robot-two wants the Deployment that robot-one has, and is refused")
    await stage.apply(ROBOT_TWO)
    refused = await stage.until(Robot, "robot-two", lambda found: found.status is not None)
    stage.note((refused.status and refused.status.conditions[0].message) or "")

    await stage.step("robot-one is deleted with all that it has, and robot-two gets the name")
    await stage.delete(Robot, "robot-one")
    await stage.until(Robot, "robot-two", is_ready)

    await stage.step("robot-two is deleted, and nothing is left")
    await stage.delete(Robot, "robot-two")
    await stage.gone(apps_v1.Deployment, "robot-one")
    await stage.until_all(core_v1.Pod, lambda pods: not pods)


operator = Runnable(lambda services: run_robots(services.client, observe=services.observe))

demo = Demo(
    title="Robots in Deployments, by the pieces of which every controller is made",
    manager=Manager(runnables=[operator]),
    kinds=(Robot,),
    below=(apps_v1.Deployment,),
    steps=steps,
)
