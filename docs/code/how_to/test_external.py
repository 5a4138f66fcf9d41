"""Tests of the code in the page about external systems."""

from docs.code.how_to.external import Account, DirectoryDown, Spec, controller
from steersman.kinds import meta_v1
from steersman_cluster.simulation import Cluster


class FakeDirectory:
    """A directory in memory, which a test can make unavailable."""

    def __init__(self) -> None:
        self.plans: dict[str, str] = {}
        self.is_down = False

    async def ensure(self, key: str, plan: str) -> str:
        self._answer()
        self.plans[key] = plan
        return f"id-of-{key}"

    async def remove(self, key: str) -> None:
        self._answer()
        self.plans.pop(key, None)

    def _answer(self) -> None:
        if self.is_down:
            raise DirectoryDown("no answer within 5 s")


def account(*, plan: str = "free") -> Account:
    return Account(
        metadata=meta_v1.ObjectMeta(name="ada"),
        spec=Spec(plan="paid" if plan == "paid" else "free"),
    )


async def test_an_account_is_created_changed_and_deleted(cluster: Cluster) -> None:
    directory = FakeDirectory()
    await cluster.install(Account)
    await cluster.run_operator(controller(directory))

    made = await cluster.apply(account())
    await cluster.settle()
    first = dict(directory.plans)
    await cluster.apply(account(plan="paid"))
    await cluster.settle()
    second = dict(directory.plans)
    await cluster.delete(Account, "ada")
    await cluster.settle()

    assert first == {made.uid: "free"}
    assert second == {made.uid: "paid"}
    assert directory.plans == {}


async def test_an_account_deleted_in_the_directory_is_created_again(cluster: Cluster) -> None:
    directory = FakeDirectory()
    await cluster.install(Account)
    await cluster.run_operator(controller(directory))
    await cluster.apply(account())
    await cluster.settle()

    directory.plans.clear()
    await cluster.advance(600.0)
    await cluster.settle()

    assert list(directory.plans.values()) == ["free"]


async def test_an_outage_is_reported_and_retried(cluster: Cluster) -> None:
    directory = FakeDirectory()
    directory.is_down = True
    await cluster.install(Account)
    await cluster.run_operator(controller(directory))
    await cluster.apply(account())
    await cluster.advance(45.0)
    during = await cluster.get(Account, "ada")

    directory.is_down = False
    await cluster.advance(45.0)
    after = await cluster.get(Account, "ada")

    assert [each.status for each in (during.status and during.status.conditions) or ()] == [
        "Unknown"
    ]
    assert [each.status for each in (after.status and after.status.conditions) or ()] == ["True"]
