"""The number of concurrent workers: as many as there are keys, up to the limit."""

import asyncio

import pytest

import steersman as sm
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings
from tests.simulation.test_simulated_cluster import Note, note

BARE = WorkloadSettings(parts=())


@pytest.mark.parametrize(("objects", "at_once", "employed"), [(1, 1, 2), (2, 2, 3), (9, 4, 4)])
def test_the_number_of_workers_follows_the_queue_up_to_a_limit(
    objects: int, at_once: int, employed: int
) -> None:
    async def main(cluster: SimulatedCluster) -> tuple[int, int]:
        inside, most = 0, 0

        async def look(a_note: Note, ctx: sm.Context) -> sm.Outcome:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            await cluster.clock.sleep(10.0)
            inside -= 1
            return sm.Done()

        await cluster.install(Note)
        for number in range(objects):
            await cluster.apply(note(f"note-{number}"))
        await cluster.run_operator(
            sm.Controller(Note, reconcile=look, name="looker", workers=4, slow_workers=0)
        )
        await cluster.advance(60.0)
        await cluster.settle()
        workers = [each for each in asyncio.all_tasks() if each.get_name().startswith("looker/")]
        return most, len(workers)

    assert simulate(main, settings=BARE) == (at_once, employed)
