"""Objects that a controller creates: with generated names, and the right number of them."""

import pytest

import steersman as sm
from steersman.client import MergePatch
from steersman.controller import controller_of
from steersman.errors import AlreadyExists, BadController, UndeclaredWrite
from steersman.kinds import core_v1, meta_v1
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings
from tests.simulation.test_simulated_cluster import Note, note

BARE = WorkloadSettings(parts=())
ConfigMap = core_v1.ConfigMap
Secret = core_v1.Secret

NAMELESS = ConfigMap(metadata=meta_v1.ObjectMeta(generate_name="copy-"))


async def reconcile(a_note: Note, ctx: sm.Context) -> sm.Outcome:
    for _ in range(a_note.spec.copies - len(ctx.owned(ConfigMap))):
        await ctx.create_owned(NAMELESS)
    return sm.Done()


CONTROLLER = sm.Controller(Note, reconcile=reconcile, owns=(ConfigMap,))


def test_a_created_object_is_listed_at_once() -> None:
    async def main(cluster: SimulatedCluster) -> list[ConfigMap]:
        await cluster.install(Note)
        await cluster.run_operator(CONTROLLER)
        await cluster.apply(note(copies=3))
        await cluster.settle()
        await cluster.apply(note(copies=5))
        await cluster.settle()
        return await cluster.list(ConfigMap)

    found = simulate(main, settings=BARE)

    assert len(found) == 5
    assert len({each.name for each in found}) == 5
    assert all(each.name.startswith("copy-") for each in found)
    assert {owner.name for each in found if (owner := controller_of(each))} == {"one"}


def test_creating_an_existing_object_is_an_error() -> None:
    async def main(cluster: SimulatedCluster) -> list[Exception]:
        seen: list[Exception] = []

        async def make_twice(a_note: Note, ctx: sm.Context) -> sm.Outcome:
            twin = ConfigMap(metadata=meta_v1.ObjectMeta(name="twin"))
            if ctx.owned(ConfigMap):
                return sm.Done()
            await ctx.create_owned(twin)
            try:
                await ctx.create_owned(twin)
            except AlreadyExists as error:
                seen.append(error)
            return sm.Done()

        await cluster.install(Note)
        await cluster.run_operator(sm.Controller(Note, reconcile=make_twice, owns=(ConfigMap,)))
        await cluster.apply(note())
        await cluster.settle()
        return seen

    assert len(simulate(main, settings=BARE)) == 1


def test_a_kind_that_was_not_declared_is_not_created() -> None:
    async def main(cluster: SimulatedCluster) -> list[Exception]:
        seen: list[Exception] = []

        async def make_a_secret(a_note: Note, ctx: sm.Context) -> sm.Outcome:
            for make in (ctx.create, ctx.create_owned):
                try:
                    await make(Secret(metadata=meta_v1.ObjectMeta(name="one")))
                except UndeclaredWrite as error:
                    seen.append(error)
            return sm.Done()

        await cluster.install(Note)
        await cluster.run_operator(sm.Controller(Note, reconcile=make_a_secret))
        await cluster.apply(note())
        await cluster.settle()
        return seen

    assert len(simulate(main, settings=BARE)) == 2


def test_a_just_created_object_is_not_pruned() -> None:
    async def main(cluster: SimulatedCluster) -> int:
        owns = sm.Owns(ConfigMap, verbs=("create", "delete"), when=lambda *_: False)

        async def make_and_prune(a_note: Note, ctx: sm.Context) -> sm.Outcome:
            await ctx.create_owned(NAMELESS)
            await ctx.prune()
            return sm.Done()

        await cluster.install(Note)
        await cluster.run_operator(sm.Controller(Note, reconcile=make_and_prune, owns=(owns,)))
        await cluster.apply(note())
        await cluster.settle()
        return len(await cluster.list(ConfigMap))

    assert simulate(main, settings=BARE) == 1


def test_a_pod_is_deleted_with_the_given_grace_period() -> None:
    async def main(cluster: SimulatedCluster) -> int | None:
        async def delete(pod: core_v1.Pod, ctx: sm.Context) -> sm.Outcome:
            await ctx.delete(pod, grace_seconds=7)
            return sm.Done()

        await cluster.run_operator(
            sm.Controller(
                core_v1.Pod, reconcile=delete, writes=(sm.Writes(core_v1.Pod, verbs=("delete",)),)
            )
        )
        container = core_v1.Container(name="main", image="main:1")
        metadata = meta_v1.ObjectMeta(name="one", finalizers=("test.example.com/held",))
        spec = core_v1.PodSpec(containers=(container,), node_name="somewhere")
        await cluster.create(core_v1.Pod(metadata=metadata, spec=spec))
        await cluster.settle()
        return (await cluster.get(core_v1.Pod, "one")).metadata.deletion_grace_period_seconds

    assert simulate(main, settings=BARE) == 7


def test_a_plain_function_can_create_objects() -> None:
    async def main(cluster: SimulatedCluster) -> int:
        def plainly(a_note: Note, ctx: sm.BlockingContext) -> sm.Outcome:
            if not ctx.owned(ConfigMap):
                ctx.create_owned(NAMELESS)
                ctx.create(ConfigMap(metadata=meta_v1.ObjectMeta(name="free", namespace="default")))
            return sm.Done()

        await cluster.install(Note)
        await cluster.run_operator(sm.Controller(Note, reconcile=plainly, owns=(ConfigMap,)))
        await cluster.apply(note())
        await cluster.settle()
        return len(await cluster.list(ConfigMap))

    assert simulate(main, settings=BARE) == 2


@pytest.mark.parametrize("sees", [True, False])
def test_an_object_that_is_being_deleted_is_reconciled_by_a_controller_that_asks_for_it(
    sees: bool,
) -> None:
    async def main(cluster: SimulatedCluster) -> list[bool]:
        seen: list[bool] = []

        async def look(a_note: Note, ctx: sm.Context) -> sm.Outcome:
            seen.append(a_note.deletion_time is not None)
            return sm.Done()

        await cluster.install(Note)
        await cluster.run_operator(sm.Controller(Note, reconcile=look, while_deleting=sees))
        await cluster.apply(note())
        held = MergePatch({"metadata": {"finalizers": ["test.example.com/held"]}})
        await cluster.patch(Note, "one", held)
        await cluster.settle()
        await cluster.delete(Note, "one")
        await cluster.settle()
        return seen

    assert (True in simulate(main, settings=BARE)) is sees


def test_a_controller_cannot_both_finalize_and_reconcile_deleted_objects() -> None:
    with pytest.raises(BadController, match="Remove while_deleting"):
        sm.Controller(Note, reconcile=reconcile, finalize=reconcile, while_deleting=True)
