"""Tests of the code in the page about generated credentials."""

from docs.code.how_to.credentials import Login, Spec, controller
from steersman.kinds import core_v1, meta_v1
from steersman_cluster.simulation import Cluster, Scenario, survives_crashes


def login(*, rotation: int = 0) -> Login:
    return Login(metadata=meta_v1.ObjectMeta(name="ada"), spec=Spec(rotation=rotation))


async def password(cluster: Cluster) -> bytes:
    secret = await cluster.get(core_v1.Secret, "ada-credentials")
    return (secret.data or {})["password"]


async def test_a_password_is_generated_once(cluster: Cluster) -> None:
    await cluster.install(Login)
    operator = await cluster.run_operator(controller)
    await cluster.apply(login())
    await cluster.settle()
    first = await password(cluster)

    await operator.kill()
    await cluster.run_operator(controller)
    await cluster.settle()

    assert len(first) == 32
    assert await password(cluster) == first
    await cluster.assert_second_pass_writes_nothing()


async def test_a_new_rotation_generates_a_new_password(cluster: Cluster) -> None:
    await cluster.install(Login)
    await cluster.run_operator(controller)
    await cluster.apply(login())
    await cluster.settle()
    first = await password(cluster)

    await cluster.apply(login(rotation=1))
    await cluster.settle()

    assert await password(cluster) != first


async def test_a_deleted_secret_is_created_again(cluster: Cluster) -> None:
    await cluster.install(Login)
    await cluster.run_operator(controller)
    await cluster.apply(login())
    await cluster.settle()

    await cluster.delete(core_v1.Secret, "ada-credentials")
    await cluster.settle()

    assert await password(cluster)


async def test_the_result_is_the_same_wherever_the_operator_crashes() -> None:
    async def life(cluster: Cluster) -> None:
        await cluster.apply(login())
        await cluster.settle()
        await cluster.delete(Login, "ada")
        await cluster.settle()

    await survives_crashes(Scenario(operator=lambda: [controller], kinds=[Login], steps=life))
