"""The metrics of work queues, with the names that dashboards for controller-runtime use."""

import tracemalloc
from random import Random

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from steersman.names import ObjectKey
from steersman.observe import KeyAdded, KeyDone, KeyTaken, MetricsObserver, Observation, QueueEnded
from steersman.observe.labels import MAX_VALUES
from steersman.workqueue import LOW_PRIORITY, WorkQueue, default_limiter
from tests.clocks import FakeClock
from tests.unit.observe.samples import ADDED, DELAYED, DONE, ENDED, RAISED, TAKEN

APPS = {"name": "apps", "controller": "apps"}


class MeteredQueue:
    """A queue and its metrics."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.registry = CollectorRegistry()
        self.observe = MetricsObserver(self.registry, clock=self.clock)
        self.queue = WorkQueue[str](
            "apps",
            limiter=default_limiter(clock=self.clock, rng=Random(0)),
            clock=self.clock,
            observe=self.observe,
        )

    def value(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(f"workqueue_{name}", APPS | labels)

    def depth(self, priority: int) -> float | None:
        return self.value("depth", priority=str(priority))


async def test_the_names_and_labels_are_those_of_controller_runtime() -> None:
    metered = MeteredQueue()
    for observation in (ADDED, RAISED, DELAYED, TAKEN, DONE, ENDED):
        metered.observe(observation)

    text = generate_latest(metered.registry).decode()

    of_queues = {line.partition("{")[0] for line in text.splitlines() if line.startswith("workq")}
    assert of_queues == {
        "workqueue_adds_total",
        "workqueue_depth",
        "workqueue_longest_running_processor_seconds",
        "workqueue_queue_duration_seconds_bucket",
        "workqueue_queue_duration_seconds_count",
        "workqueue_queue_duration_seconds_sum",
        "workqueue_retries_total",
        "workqueue_unfinished_work_seconds",
        "workqueue_work_duration_seconds_bucket",
        "workqueue_work_duration_seconds_count",
        "workqueue_work_duration_seconds_sum",
    }
    assert 'workqueue_depth{controller="apps",name="apps",priority="0"} 0.0' in text
    assert 'workqueue_adds_total{controller="apps",name="apps"} 1.0' in text


async def test_the_depth_is_counted_by_priority() -> None:
    metered = MeteredQueue()
    metered.queue.add("web", priority=LOW_PRIORITY)
    metered.queue.add("db", priority=LOW_PRIORITY)
    metered.queue.add("db", priority=LOW_PRIORITY)
    metered.queue.add("cache")
    assert (metered.depth(LOW_PRIORITY), metered.depth(0)) == (2, 1)

    metered.queue.add("web")
    assert (metered.depth(LOW_PRIORITY), metered.depth(0)) == (1, 2)

    async with metered.queue.take() as key:
        metered.queue.add(key)  # delayed: not in the depth
        assert (metered.depth(LOW_PRIORITY), metered.depth(0)) == (1, 2)
    assert metered.value("adds_total") == 4


async def test_a_delayed_key_counts_as_a_retry_and_later_as_an_add() -> None:
    metered = MeteredQueue()

    metered.queue.add_after("web", 10)
    assert (metered.value("retries_total"), metered.value("adds_total")) == (1, 0)
    assert metered.depth(0) is None

    metered.clock.advance(10)
    assert metered.queue.num_waiting == 1
    assert (metered.value("retries_total"), metered.value("adds_total")) == (1, 1)
    assert metered.depth(0) == 1


async def test_the_time_in_the_queue_and_with_a_worker_are_counted() -> None:
    metered = MeteredQueue()
    metered.queue.add_after("web", 10)
    metered.clock.advance(10.5)  # half a second late

    async with metered.queue.take():
        metered.clock.advance(3)

    assert metered.value("queue_duration_seconds_sum") == 0.5
    assert metered.value("queue_duration_seconds_bucket", le="0.1") == 0
    assert metered.value("queue_duration_seconds_bucket", le="1.0") == 1
    assert metered.value("work_duration_seconds_sum") == 3
    assert metered.value("work_duration_seconds_bucket", le="1.0") == 0
    assert metered.value("work_duration_seconds_bucket", le="10.0") == 1
    assert metered.value("work_duration_seconds_bucket", le="+Inf") == 1
    assert metered.value("work_duration_seconds_count") == 1


async def test_unfinished_work_is_measured_at_the_collection() -> None:
    metered = MeteredQueue()
    for key in ("web", "db"):
        metered.queue.add(key)

    async with metered.queue.take():
        metered.clock.advance(5)
        async with metered.queue.take():
            metered.clock.advance(2)
            assert metered.value("unfinished_work_seconds") == 9
            assert metered.value("longest_running_processor_seconds") == 7

            metered.clock.advance(1)
            assert metered.value("unfinished_work_seconds") == 11
            assert metered.value("longest_running_processor_seconds") == 8

    assert metered.value("unfinished_work_seconds") == 0
    assert metered.value("longest_running_processor_seconds") == 0


async def test_the_depth_of_an_ended_queue_is_zero() -> None:
    metered = MeteredQueue()
    metered.queue.add("web")
    metered.queue.add("db", priority=LOW_PRIORITY)

    metered.queue.shut_down()

    assert (metered.depth(LOW_PRIORITY), metered.depth(0)) == (0, 0)


def test_queues_and_priorities_come_from_a_bounded_set() -> None:
    metered = MeteredQueue()
    for n in range(3 * MAX_VALUES):
        metered.observe(KeyAdded(queue=f"queue-{n}", key="web", priority=n))
        metered.observe(
            KeyTaken(queue="queue-0", key="web", priority=n, waited_seconds=0, taken_at=0)
        )

    samples = [sample for metric in metered.registry.collect() for sample in metric.samples]

    assert len({sample.labels.get("name") for sample in samples} - {None}) == MAX_VALUES + 1
    assert len({sample.labels.get("priority") for sample in samples} - {None}) == MAX_VALUES + 1


def test_nothing_is_stored_for_a_key_that_is_done() -> None:
    metered = MeteredQueue()

    def churn(count: int) -> None:
        for n in range(count):
            key = ObjectKey("default", f"app-{n}")
            metered.observe(KeyAdded(queue="apps", key=key, priority=0))
            metered.observe(
                KeyTaken(queue="apps", key=key, priority=0, waited_seconds=0.1, taken_at=0.0)
            )
            metered.observe(KeyDone(queue="apps", key=key, took_seconds=0.1))

    churn(10)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        churn(3_000)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert after - before < 5_000


def test_two_observers_cannot_count_in_one_registry() -> None:
    metered = MeteredQueue()

    with pytest.raises(ValueError, match="Duplicated timeseries"):
        MetricsObserver(metered.registry, clock=metered.clock)


def test_a_queue_first_observed_at_its_end_is_empty() -> None:
    metered = MeteredQueue()
    observations: list[Observation] = [DONE, QueueEnded(queue="apps", left=0, held=0)]
    for observation in observations:
        metered.observe(observation)

    assert metered.value("unfinished_work_seconds") == 0
    assert metered.value("work_duration_seconds_count") == 1
