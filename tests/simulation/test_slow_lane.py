"""Objects whose reconcile hangs do not hold up the rest, whatever they are and however many."""

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


class Watched:
    """Reconciles notes: some hang, and of the others it is known how long they waited."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        self.cluster = cluster
        self.inside = 0
        self.most = 0
        self.wanted_at: dict[tuple[str, int], float] = {}
        self.waits: list[float] = []
        self.hung: list[str] = []
        self.are_mended = False

    async def reconcile(self, a_note: Note, ctx: sm.Context) -> sm.Outcome:
        assert a_note.name not in self.hung, "two workers have the same object"
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            if a_note.name.startswith("hanging") and not self.are_mended:
                self.hung.append(a_note.name)
                try:
                    await self.cluster.clock.sleep(1_000_000.0)
                finally:
                    self.hung.remove(a_note.name)
            wanted_at = self.wanted_at.pop((a_note.name, a_note.spec.copies), None)
            if wanted_at is not None:
                self.waits.append(self.cluster.clock.monotonic() - wanted_at)
            await self.cluster.clock.sleep(0.001)
        finally:
            self.inside -= 1
        return sm.Done()

    async def change(self, name: str, copies: int) -> None:
        self.wanted_at[name, copies] = self.cluster.clock.monotonic()
        await self.cluster.client.patch(
            Note,
            name,
            MergePatch({"spec": {"copies": copies}}),
            namespace=self.cluster.namespace,
        )


async def measured(cluster: SimulatedCluster, *, hanging: int, **declared: Any) -> Watched:
    """Ten minutes of an operator with so many objects that hang, and twenty that do not."""
    watched = Watched(cluster)
    await cluster.install(Note)
    # An operator that starts looks first at what was written last: at those that hang.
    for number in range(HEALTHY):
        await cluster.apply(note(f"healthy-{number}"))
    for number in range(hanging):
        await cluster.apply(note(f"hanging-{number}"))
    now_at = cluster.clock.monotonic()
    watched.wanted_at = {(f"healthy-{number}", 1): now_at for number in range(HEALTHY)}
    await cluster.run_operator(sm.Controller(Note, reconcile=watched.reconcile, **declared))
    for copies in range(2, 62):
        await cluster.clock.sleep(10.0)
        for number in range(HEALTHY):
            await watched.change(f"healthy-{number}", copies)
    await cluster.clock.sleep(10.0)
    return watched


@pytest.mark.parametrize("hanging", [10, 50, 100])
def test_hanging_objects_do_not_delay_the_rest(hanging: int) -> None:
    async def main(cluster: SimulatedCluster) -> tuple[list[float], int]:
        watched = await measured(cluster, hanging=hanging)
        assert not watched.wanted_at, "some were never looked at"
        return watched.waits, watched.most

    waits, most = simulate(main, settings=BARE)

    assert len(waits) == HEALTHY * 61
    assert percentile(waits, 0.99) <= 1.0
    # Those that are there at the start, behind all that hang, included.
    assert max(waits) <= 1.0
    assert most <= 10 + 100


def test_a_hanging_reconcile_does_not_block_a_single_worker() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[list[float], int]:
        watched = await measured(cluster, hanging=5, workers=1)
        return watched.waits, watched.most

    waits, most = simulate(main, settings=BARE)

    assert max(waits) <= 1.0
    assert most <= 1 + 10


def test_without_a_slow_lane_no_more_run_at_once_than_there_are_workers() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[int, int]:
        watched = await measured(cluster, hanging=5, workers=4, slow_workers=0, timeout_seconds=5.0)
        return watched.most, len(watched.waits)

    most, waits = simulate(main, settings=BARE)

    assert most == 4
    # Of those that hang, two at once: they leave two workers to the others.
    assert waits == HEALTHY * 61


def test_objects_that_timed_out_get_only_a_share_of_the_workers() -> None:
    async def main(cluster: SimulatedCluster) -> list[int]:
        watched = Watched(cluster)
        await cluster.install(Note)
        for number in range(30):
            await cluster.apply(note(f"hanging-{number}"))
        await cluster.run_operator(sm.Controller(Note, reconcile=watched.reconcile))
        found = []
        for _ in range(3):
            await cluster.clock.sleep(110.0)
            found.append(len(watched.hung))
        return found

    assert simulate(main, settings=BARE) == [30, 5, 5]


def test_an_object_that_hung_is_reconciled_at_once_when_it_changes() -> None:
    async def main(cluster: SimulatedCluster) -> float:
        watched = Watched(cluster)
        await cluster.install(Note)
        for number in range(30):
            await cluster.apply(note(f"hanging-{number}"))
        await cluster.run_operator(sm.Controller(Note, reconcile=watched.reconcile))
        await cluster.clock.sleep(200.0)
        waiting = next(
            name for name in (f"hanging-{n}" for n in range(30)) if name not in watched.hung
        )
        watched.are_mended = True
        await watched.change(waiting, 7)
        await cluster.clock.sleep(5.0)
        return watched.waits[0]

    assert simulate(main, settings=BARE) <= 1.0


def test_hanging_objects_that_recover_are_all_reconciled() -> None:
    async def main(cluster: SimulatedCluster) -> set[str]:
        watched = Watched(cluster)
        done: set[str] = set()

        async def reconcile(a_note: Note, ctx: sm.Context) -> sm.Outcome:
            outcome = await watched.reconcile(a_note, ctx)
            done.add(a_note.name)
            return outcome

        await cluster.install(Note)
        for number in range(30):
            await cluster.apply(note(f"hanging-{number}"))
        await cluster.run_operator(sm.Controller(Note, reconcile=reconcile))
        await cluster.clock.sleep(200.0)
        watched.are_mended = True
        await cluster.clock.sleep(130.0)
        return done

    assert len(simulate(main, settings=BARE)) == 30


def test_reconciles_that_all_take_long_add_no_further_workers() -> None:
    async def main(cluster: SimulatedCluster) -> list[int]:
        inside, most = 0, 0

        async def look(a_note: Note, ctx: sm.Context) -> sm.Outcome:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            await cluster.clock.sleep(0.3)
            inside -= 1
            return sm.Done()

        await cluster.install(Note)
        for number in range(300):
            await cluster.apply(note(f"note-{number}"))
        await cluster.run_operator(sm.Controller(Note, reconcile=look))
        await cluster.clock.sleep(2.0)
        at_first, most = most, 0
        await cluster.clock.sleep(5.0)
        return [at_first, most]

    at_first, later = simulate(main, settings=BARE)

    assert at_first <= 70
    assert later == 10


def test_a_hanging_plain_function_delays_no_other_object() -> None:
    async def main(cluster: SimulatedCluster) -> list[float]:
        waits: list[float] = []
        wanted_at: dict[tuple[str, int], float] = {}

        def look(a_note: Note, ctx: sm.BlockingContext) -> sm.Outcome:
            if a_note.name.startswith("hanging"):
                ctx._caller.call(lambda: cluster.clock.sleep(1_000.0))  # pyright: ignore[reportPrivateUsage]
            elif (at := wanted_at.pop((a_note.name, a_note.spec.copies), None)) is not None:
                waits.append(cluster.clock.monotonic() - at)
            return sm.Done()

        await cluster.install(Note)
        for number in range(HEALTHY):
            await cluster.apply(note(f"healthy-{number}"))
        for number in range(100):
            await cluster.apply(note(f"hanging-{number}"))
        for number in range(HEALTHY):
            wanted_at[f"healthy-{number}", 1] = cluster.clock.monotonic()
        await cluster.run_operator(sm.Controller(Note, reconcile=look))
        for copies in range(2, 20):
            await cluster.clock.sleep(10.0)
            for number in range(HEALTHY):
                name = f"healthy-{number}"
                wanted_at[name, copies] = cluster.clock.monotonic()
                patch = MergePatch({"spec": {"copies": copies}})
                await cluster.client.patch(Note, name, patch, namespace=cluster.namespace)
        await cluster.clock.sleep(5.0)
        assert not wanted_at
        return waits

    assert max(simulate(main, settings=BARE)) <= 1.0
