"""Tests of Robots on a cluster in this process, in virtual time: no test waits."""

from random import Random

import pytest
import steersman as sm
from steersman import recipes
from steersman.client import MergePatch
from steersman.errors import Invalid
from steersman.kinds import apps_v1, core_v1, events_v1, meta_v1
from steersman_cluster.simulation import Cluster, Operator, Scenario, survives_crashes

from robot_operator.controller import IMAGE, run_robots
from robot_operator.robot import Robot, Spec

ROBOT = {"name": "robot", "image": IMAGE}
OPERATOR = sm.Runnable(lambda services: run_robots(services.client, observe=services.observe))


def robot(name: str = "robot-one", *, replicas: int = 2, deployment: str = "") -> Robot:
    """An object as a user would apply it."""
    spec = Spec(deployment_name=deployment or name, replicas=replicas)
    return Robot(metadata=meta_v1.ObjectMeta(name=name), spec=spec)


def foreign_deployment() -> apps_v1.Deployment:
    """A Deployment with the name in the robot's spec, and without an owner."""
    return recipes.deployment("robot-one", core_v1.Container(name="main", image="redis"))


async def start_operator(cluster: Cluster) -> Operator:
    """Install the kind and run the operator."""
    await cluster.install(Robot)
    return await cluster.run_operator(runnables=[OPERATOR])


async def events_of(cluster: Cluster, name: str) -> list[tuple[str | None, str | None]]:
    """Type and reason of each event of a Robot."""
    return [
        (event.type, event.reason)
        for event in await cluster.list(events_v1.Event)
        if event.regarding is not None and event.regarding.name == name
        if event.regarding.kind == "Robot"
    ]


# Desired state


async def test_a_robot_gets_its_own_deployment(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(robot(replicas=2))
    await cluster.settle()

    deployment = await cluster.get(apps_v1.Deployment, "robot-one")
    assert sm.is_ready(deployment)
    assert [each.kind for each in deployment.metadata.owner_references or ()] == ["Robot"]
    assert len(await cluster.list(core_v1.Pod)) == 2


async def test_the_status_has_the_number_of_available_replicas(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(robot(replicas=3))
    await cluster.settle()

    found = await cluster.get(Robot, "robot-one")
    assert found.status is not None
    assert found.status.available_replicas == 3
    assert sm.is_ready(found)


async def test_events_report_the_changes(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(robot())
    await cluster.settle()

    assert await events_of(cluster, "robot-one") == [("Normal", "Created"), ("Normal", "Synced")]


async def test_a_change_of_the_spec_reaches_the_deployment(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(robot(replicas=2))
    await cluster.settle()

    await cluster.apply(robot(replicas=4))
    await cluster.settle()

    assert len(await cluster.list(core_v1.Pod)) == 4


async def test_the_deployment_of_a_deleted_robot_is_deleted(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(robot())
    await cluster.settle()

    await cluster.delete(Robot, "robot-one")
    await cluster.settle()

    assert await cluster.find(apps_v1.Deployment, "robot-one") is None
    assert await cluster.list(core_v1.Pod) == []


async def test_the_operator_writes_nothing_if_nothing_has_changed(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(robot())
    await cluster.settle()
    before = cluster.history_position()

    await cluster.restart_operators()
    await cluster.settle()

    # Stricter than `assert_second_pass_writes_nothing`, which allows writes without an effect.
    sent = cluster.history.requests[before:]
    assert [each for each in sent if each.actor == "operator" and each.is_write] == []


# Drift


@pytest.mark.parametrize(
    "drift",
    [
        {"replicas": 5},
        {"template": {"spec": {"containers": [{"name": "robot", "image": "redis"}]}}},
        {"template": {"spec": {"containers": [ROBOT, {"name": "another", "image": "redis"}]}}},
    ],
    ids=["replicas", "image", "another container"],
)
async def test_a_change_of_the_deployment_is_reverted(
    cluster: Cluster, drift: dict[str, object]
) -> None:
    await start_operator(cluster)
    await cluster.apply(robot(replicas=2))
    await cluster.settle()

    await cluster.patch(apps_v1.Deployment, "robot-one", MergePatch({"spec": drift}))
    await cluster.settle()

    deployment = await cluster.get(apps_v1.Deployment, "robot-one")
    assert deployment.spec is not None
    assert deployment.spec.replicas == 2
    images = [
        container.image
        for pod in await cluster.list(core_v1.Pod)
        if pod.spec is not None
        for container in pod.spec.containers
    ]
    assert images == [IMAGE, IMAGE]
    assert (await events_of(cluster, "robot-one")).count(("Normal", "Corrected")) == 1


async def test_a_deleted_deployment_is_created_again(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(robot())
    await cluster.settle()
    before = await cluster.get(apps_v1.Deployment, "robot-one")

    await cluster.delete(apps_v1.Deployment, "robot-one")
    await cluster.settle()

    after = await cluster.get(apps_v1.Deployment, "robot-one")
    assert after.uid != before.uid
    assert sm.is_ready(await cluster.get(Robot, "robot-one"))


# Deployments of other owners


async def test_a_foreign_deployment_is_not_changed(cluster: Cluster) -> None:
    await start_operator(cluster)
    theirs = await cluster.create(foreign_deployment())

    await cluster.apply(robot())
    await cluster.settle()

    deployment = await cluster.get(apps_v1.Deployment, "robot-one")
    assert deployment.spec == theirs.spec
    assert deployment.metadata.owner_references is None
    assert await events_of(cluster, "robot-one") == [("Warning", "NotOurs")]
    found = await cluster.get(Robot, "robot-one")
    assert found.status is not None
    assert "delete the existing object" in (found.status.conditions[0].message or "")


async def test_a_robot_gets_its_deployment_once_the_name_is_free(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.create(foreign_deployment())
    await cluster.apply(robot())
    await cluster.settle()

    await cluster.delete(apps_v1.Deployment, "robot-one")
    await cluster.settle()

    assert sm.is_ready(await cluster.get(Robot, "robot-one"))


async def test_the_second_of_two_robots_with_one_deployment_waits(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(robot("robot-one"))
    await cluster.settle()
    await cluster.apply(robot("robot-two", deployment="robot-one"))
    await cluster.settle()
    assert not sm.is_ready(await cluster.get(Robot, "robot-two"))

    await cluster.delete(Robot, "robot-one")
    await cluster.settle()

    assert sm.is_ready(await cluster.get(Robot, "robot-two"))


# Invalid specs


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"replicas": -1}, "spec.replicas"),
        ({"replicas": 2**31}, "spec.replicas"),
        ({"replicas": "two"}, "spec.replicas"),
        ({"deploymentName": "Robot One"}, "spec.deploymentName"),
        ({"deploymentName": "r" * 64}, "spec.deploymentName"),
        ({"deploymentName": "robot-two"}, "deploymentName cannot be changed"),
    ],
    ids=["negative", "too large", "no integer", "invalid name", "long name", "changed name"],
)
async def test_an_invalid_spec_is_rejected_and_changes_nothing(
    cluster: Cluster, spec: dict[str, object], problem: str
) -> None:
    await start_operator(cluster)
    await cluster.apply(robot())
    await cluster.settle()
    before = cluster.history_position()

    with pytest.raises(Invalid, match=problem):
        await cluster.patch(Robot, "robot-one", MergePatch({"spec": spec}))
    await cluster.settle()

    assert cluster.writes_since(before) == []


# Crashes and stops


async def life_of_a_robot(cluster: Cluster) -> None:
    """The steps of a user: apply an object, then delete it."""
    await cluster.apply(robot(replicas=2))
    await cluster.settle()
    await cluster.patch(apps_v1.Deployment, "robot-one", MergePatch({"spec": {"replicas": 1}}))
    await cluster.settle()
    await cluster.delete(Robot, "robot-one")
    await cluster.settle()


async def test_the_result_is_the_same_wherever_the_operator_crashes() -> None:
    scenario = Scenario(operator=lambda: OPERATOR, kinds=[Robot], steps=life_of_a_robot)
    await survives_crashes(scenario)


async def test_the_deployment_is_correct_after_the_operator_is_killed_ten_times(
    cluster: Cluster,
) -> None:
    rng = Random(10)
    await cluster.install(Robot)

    for _ in range(10):
        operator = await cluster.run_operator(runnables=[OPERATOR])
        await cluster.apply(robot(replicas=rng.randrange(6)))
        await cluster.clock.sleep(rng.uniform(0.0, 0.01))  # a whole sync takes no longer
        await operator.kill()
    await cluster.apply(robot(replicas=3))
    await cluster.run_operator(runnables=[OPERATOR])
    await cluster.settle()

    assert sm.is_ready(await cluster.get(Robot, "robot-one"))
    assert len(await cluster.list(core_v1.Pod)) == 3


@pytest.mark.embedded_only(reason="it stops the operator between two requests")
async def test_a_running_sync_ends_before_the_operator_stops(cluster: Cluster) -> None:
    await cluster.install(Robot)
    has_deployment: list[bool] = []
    is_done: list[bool] = []

    for number in range(12):
        operator = await cluster.run_operator(runnables=[OPERATOR])
        await cluster.apply(robot(f"robot-{number}"))
        await cluster.clock.sleep(0.0005 * number)
        await operator.stop()
        has_deployment.append(bool(await cluster.find(apps_v1.Deployment, f"robot-{number}")))
        events = await events_of(cluster, f"robot-{number}")
        status = (await cluster.get(Robot, f"robot-{number}")).status
        is_done.append(("Normal", "Created") in events and status is not None)

    assert is_done == has_deployment
    assert {*has_deployment} == {True, False}
