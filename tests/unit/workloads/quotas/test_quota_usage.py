"""The usage of one quota, object by object."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from steersman.kinds import core_v1, meta_v1
from steersman.names import ObjectKey
from steersman.units import Quantity
from steersman_cluster.workloads.quotas.evaluators import CLAIMS, PODS
from steersman_cluster.workloads.quotas.quota_usage import QuotaUsage
from tests.unit.workloads.pods.samples import NOW

ALL = {PODS: None, CLAIMS: None}


def quota_usage(*names: str, scopes: tuple[str, ...] | None = None) -> QuotaUsage:
    hard = {name: Quantity(10) for name in names}
    return QuotaUsage(core_v1.ResourceQuotaSpec(hard=hard, scopes=scopes))


def key(name: str) -> ObjectKey:
    return ObjectKey("here", name)


def pod(memory: str = "1Gi", *, phase: str = "Running", grace: int | None = None) -> core_v1.Pod:
    requests = {"memory": Quantity(memory)}
    resources = core_v1.ResourceRequirements(requests=requests)
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(
            deletion_timestamp=None if grace is None else NOW + timedelta(seconds=grace),
            deletion_grace_period_seconds=grace,
        ),
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", image="main", resources=resources),)
        ),
        status=core_v1.PodStatus(phase=phase),
    )


def used(quota_usage: QuotaUsage) -> dict[str, str]:
    return {name: str(each) for name, each in quota_usage.used(ALL).items()}


def test_a_new_quota_has_no_usage() -> None:
    empty = quota_usage("pods", "requests.storage", "example.com/unknown")

    assert empty.kinds == (PODS, CLAIMS)
    assert used(empty) == {"pods": "0", "requests.storage": "0"}
    assert empty.used({PODS: None}).keys() == {"pods"}


def test_an_added_object_is_used_and_a_deleted_object_no_longer_counts() -> None:
    book = quota_usage("pods", "requests.memory")

    assert book.put(PODS, key("a"), pod("1Gi"), NOW) > 0
    assert book.put(PODS, key("b"), pod("500Mi"), NOW) > 0
    assert used(book) == {"pods": "2", "requests.memory": "1524Mi"}
    assert book.remove(PODS, key("a")) < 0
    assert used(book) == {"pods": "1", "requests.memory": "500Mi"}
    assert book.remove(PODS, key("a")) == 0


def test_a_decrease_of_an_object_decreases_the_usage() -> None:
    book = quota_usage("pods", "count/pods", "requests.memory")
    book.put(PODS, key("a"), pod("1Gi"), NOW)

    assert book.put(PODS, key("a"), pod("1Gi"), NOW) == 0
    assert book.put(PODS, key("a"), pod("2Gi"), NOW) > 0
    assert book.put(PODS, key("a"), pod(phase="Succeeded"), NOW) < 0
    assert used(book) == {"count/pods": "1", "pods": "0", "requests.memory": "0"}


def test_an_object_outside_the_scopes_is_not_counted() -> None:
    book = quota_usage("pods", scopes=("BestEffort",))

    assert book.put(PODS, key("a"), pod("1Gi"), NOW) == 0
    assert book.put(PODS, key("b"), pod("0"), NOW) > 0
    assert used(book) == {"pods": "1"}


def test_a_stuck_terminating_pod_stops_counting_after_twice_its_grace_period() -> None:
    book = quota_usage("pods", "count/pods")
    book.put(PODS, key("a"), pod(grace=30), NOW)

    assert book.release(NOW) == 60.001
    assert used(book) == {"count/pods": "1", "pods": "1"}
    assert book.release(NOW + timedelta(seconds=60.001)) is None
    assert used(book) == {"count/pods": "1", "pods": "0"}


def test_a_removed_pod_is_not_released_later() -> None:
    book = quota_usage("pods")
    book.put(PODS, key("a"), pod(grace=30), NOW)
    book.remove(PODS, key("a"))

    assert book.release(NOW) is None


changes = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from((None, "1Gi", "300Mi", "5k"))), max_size=12
)


@given(changes)
def test_incremental_counting_equals_a_full_recount(
    changes: list[tuple[str, str | None]],
) -> None:
    book = quota_usage("pods", "requests.memory")
    there: dict[str, str] = {}
    for name, memory in changes:
        if memory is None:
            there.pop(name, None)
            book.remove(PODS, key(name))
        else:
            there[name] = memory
            book.put(PODS, key(name), pod(memory), NOW)

    found = book.used(ALL)

    assert found["pods"] == Quantity(len(there))
    assert found["requests.memory"] == sum((Quantity(each) for each in there.values()), Quantity(0))
