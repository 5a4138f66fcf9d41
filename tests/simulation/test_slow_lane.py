"""Objects whose reconcile hangs do not delay the others, however many hang."""

from collections.abc import Sequence
from typing import Any

import pytest

import steersman as sm
from steersman.client import MergePatch
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings
from tests.simulation.test_simulated_cluster import Note, note

BARE = WorkloadSettings(parts=())
HEALTHY = 20


def percentile(waits: Sequence[float], share: float) -> float:
    return sorted(waits)[min(len(waits) - 1, int(len(waits) * share))]


class NoteReconciler:
    """Reconciles notes: some hang, and the waits of the others are recorded."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        self.cluster = cluster
        self.active = 0
        self.max_active = 0
        self.changed_at: dict[tuple[str, int], float] = {}
        self.waits: list[float] = []
        self.hung: list[str] = []
        self.is_fixed = False

    async def reconcile(self, obj: Note, ctx: sm.Context) -> sm.Outcome:
        assert obj.name not in self.hung, "two workers have the same object"
        self.active += 1
        self.max_active = max(self.max_active, self.active)
        try:
            if obj.name.startswith("hanging") and not self.is_fixed:
                self.hung.append(obj.name)
                try:
                    await self.cluster.clock.sleep(1_000_000.0)
                finally:
                    self.hung.remove(obj.name)
            changed_at = self.changed_at.pop((obj.name, obj.spec.copies), None)
            if changed_at is not None:
                self.waits.append(self.cluster.clock.monotonic() - changed_at)
            await self.cluster.clock.sleep(0.001)
        finally:
            self.active -= 1
        return sm.Done()

    async def change(self, name: str, copies: int) -> None:
        self.changed_at[name, copies] = self.cluster.clock.monotonic()
        await self.cluster.client.patch(
            Note,
            name,
            MergePatch({"spec": {"copies": copies}}),
            namespace=self.cluster.namespace,
        )


async def measured(cluster: SimulatedCluster, *, hanging: int, **declared: Any) -> NoteReconciler:
    """Ten minutes of an operator with some objects that hang, and twenty that do not."""
    reconciler = NoteReconciler(cluster)
    await cluster.install(Note)
    # An operator reconciles the latest objects first: those that hang.
    for number in range(HEALTHY):
        await cluster.apply(note(f"healthy-{number}"))
    for number in range(hanging):
        await cluster.apply(note(f"hanging-{number}"))
    now_at = cluster.clock.monotonic()
    reconciler.changed_at = {(f"healthy-{number}", 1): now_at for number in range(HEALTHY)}
    await cluster.run_operator(sm.Controller(Note, reconcile=reconciler.reconcile, **declared))
    for copies in range(2, 62):
        await cluster.clock.sleep(10.0)
        for number in range(HEALTHY):
            await reconciler.change(f"healthy-{number}", copies)
    await cluster.clock.sleep(10.0)
    return reconciler


@pytest.mark.parametrize("hanging", [10, 50, 100])
def test_hanging_objects_do_not_delay_the_rest(hanging: int) -> None:
    async def main(cluster: SimulatedCluster) -> tuple[list[float], int]:
        reconciler = await measured(cluster, hanging=hanging)
        assert not reconciler.changed_at, "some were never looked at"
        return reconciler.waits, reconciler.max_active

    waits, max_active = simulate(main, settings=BARE)

    assert len(waits) == HEALTHY * 61
    assert percentile(waits, 0.99) <= 1.0
    # Including the waits at the start, behind all objects that hang.
    assert max(waits) <= 1.0
    assert max_active <= 10 + 100


def test_a_hanging_reconcile_does_not_block_a_single_worker() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[list[float], int]:
        reconciler = await measured(cluster, hanging=5, workers=1)
        return reconciler.waits, reconciler.max_active

    waits, max_active = simulate(main, settings=BARE)

    assert max(waits) <= 1.0
    assert max_active <= 1 + 10


def test_without_a_slow_lane_no_more_reconciles_run_than_there_are_workers() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[int, int]:
        reconciler = await measured(
            cluster, hanging=5, workers=4, slow_workers=0, timeout_seconds=5.0
        )
        return reconciler.max_active, len(reconciler.waits)

    max_active, waits = simulate(main, settings=BARE)

    assert max_active == 4
    # Two objects that hang run at once, which leaves two workers for the others.
    assert waits == HEALTHY * 61


def test_objects_that_timed_out_get_only_a_share_of_the_workers() -> None:
    async def main(cluster: SimulatedCluster) -> list[int]:
        reconciler = NoteReconciler(cluster)
        await cluster.install(Note)
        for number in range(30):
            await cluster.apply(note(f"hanging-{number}"))
        await cluster.run_operator(sm.Controller(Note, reconcile=reconciler.reconcile))
        found = []
        for _ in range(3):
            await cluster.clock.sleep(110.0)
            found.append(len(reconciler.hung))
        return found

    assert simulate(main, settings=BARE) == [30, 5, 5]


def test_an_object_that_hung_is_reconciled_immediately_when_it_changes() -> None:
    async def main(cluster: SimulatedCluster) -> float:
        reconciler = NoteReconciler(cluster)
        await cluster.install(Note)
        for number in range(30):
            await cluster.apply(note(f"hanging-{number}"))
        await cluster.run_operator(sm.Controller(Note, reconcile=reconciler.reconcile))
        await cluster.clock.sleep(200.0)
        waiting = next(
            name for name in (f"hanging-{n}" for n in range(30)) if name not in reconciler.hung
        )
        reconciler.is_fixed = True
        await reconciler.change(waiting, 7)
        await cluster.clock.sleep(5.0)
        return reconciler.waits[0]

    assert simulate(main, settings=BARE) <= 1.0


def test_hanging_objects_that_recover_are_all_reconciled() -> None:
    async def main(cluster: SimulatedCluster) -> set[str]:
        reconciler = NoteReconciler(cluster)
        done: set[str] = set()

        async def reconcile(obj: Note, ctx: sm.Context) -> sm.Outcome:
            outcome = await reconciler.reconcile(obj, ctx)
            done.add(obj.name)
            return outcome

        await cluster.install(Note)
        for number in range(30):
            await cluster.apply(note(f"hanging-{number}"))
        await cluster.run_operator(sm.Controller(Note, reconcile=reconcile))
        await cluster.clock.sleep(200.0)
        reconciler.is_fixed = True
        await cluster.clock.sleep(130.0)
        return done

    assert len(simulate(main, settings=BARE)) == 30


def test_slow_reconciles_add_no_further_workers() -> None:
    async def main(cluster: SimulatedCluster) -> list[int]:
        active, max_active = 0, 0

        async def measure(obj: Note, ctx: sm.Context) -> sm.Outcome:
            nonlocal active, max_active
            active += 1
            max_active = max(max_active, active)
            await cluster.clock.sleep(0.3)
            active -= 1
            return sm.Done()

        await cluster.install(Note)
        for number in range(300):
            await cluster.apply(note(f"note-{number}"))
        await cluster.run_operator(sm.Controller(Note, reconcile=measure))
        await cluster.clock.sleep(2.0)
        at_first, max_active = max_active, 0
        await cluster.clock.sleep(5.0)
        return [at_first, max_active]

    at_first, later = simulate(main, settings=BARE)

    assert at_first <= 70
    assert later == 10


def test_a_hanging_plain_function_delays_no_other_object() -> None:
    async def main(cluster: SimulatedCluster) -> list[float]:
        waits: list[float] = []
        changed_at: dict[tuple[str, int], float] = {}

        def measure(obj: Note, ctx: sm.BlockingContext) -> sm.Outcome:
            if obj.name.startswith("hanging"):
                ctx._caller.call(lambda: cluster.clock.sleep(1_000.0))  # pyright: ignore[reportPrivateUsage]
            elif (at := changed_at.pop((obj.name, obj.spec.copies), None)) is not None:
                waits.append(cluster.clock.monotonic() - at)
            return sm.Done()

        await cluster.install(Note)
        for number in range(HEALTHY):
            await cluster.apply(note(f"healthy-{number}"))
        for number in range(100):
            await cluster.apply(note(f"hanging-{number}"))
        for number in range(HEALTHY):
            changed_at[f"healthy-{number}", 1] = cluster.clock.monotonic()
        await cluster.run_operator(sm.Controller(Note, reconcile=measure))
        for copies in range(2, 20):
            await cluster.clock.sleep(10.0)
            for number in range(HEALTHY):
                name = f"healthy-{number}"
                changed_at[name, copies] = cluster.clock.monotonic()
                patch = MergePatch({"spec": {"copies": copies}})
                await cluster.client.patch(Note, name, patch, namespace=cluster.namespace)
        await cluster.clock.sleep(5.0)
        assert not changed_at
        return waits

    assert max(simulate(main, settings=BARE)) <= 1.0
