"""The status of a DaemonSet."""

from datetime import timedelta

from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman_cluster.workloads.daemonsets.backoff import MAX_SECONDS, FailedPods
from steersman_cluster.workloads.daemonsets.plan import by_node
from steersman_cluster.workloads.daemonsets.status import counted
from steersman_cluster.workloads.daemonsets.template_version import Version, version_of
from tests.unit.workloads.daemonsets.samples import NEW, NO, STAY, YES, daemon
from tests.unit.workloads.pods.samples import NOW, ago

AGENT = apps_v1.DaemonSet(metadata=meta_v1.ObjectMeta(name="agent", generation=7))


def test_the_status_has_each_count() -> None:
    placed = by_node(
        [
            daemon("a", "working"),
            daemon("b", "fresh", since=ago(5)),
            daemon("c", "old", hash="old"),
            daemon("d", "starting", ready=False),
            daemon("e", "tainted"),
        ]
    )
    wanted = dict.fromkeys(("working", "fresh", "old", "starting", "empty"), YES)

    status = counted(
        AGENT,
        placed,
        {**wanted, "tainted": STAY, "other": NO},
        NEW,
        collisions=0,
        min_ready_seconds=10,
        now=NOW,
    )

    assert status == apps_v1.DaemonSetStatus(
        desired_number_scheduled=5,
        current_number_scheduled=4,
        number_misscheduled=1,
        number_ready=3,
        number_available=2,
        number_unavailable=3,
        updated_number_scheduled=3,
        observed_generation=7,
    )


def test_of_two_pods_on_a_node_the_older_counts() -> None:
    pods = [daemon("new", created=ago(5)), daemon("old", hash="old", created=ago(50), ready=False)]

    status = counted(
        AGENT, by_node(pods), {"node-1": YES}, NEW, collisions=2, min_ready_seconds=0, now=NOW
    )

    assert (status.number_ready, status.updated_number_scheduled) == (0, None)
    assert status.collision_count == 2


def test_the_version_of_a_pod_is_its_hash_or_template_generation() -> None:
    numbered = apps_v1.DaemonSet(
        metadata=meta_v1.ObjectMeta(
            name="agent", annotations={"deprecated.daemonset.template.generation": "3"}
        )
    )

    version = version_of(numbered, "hash")

    def pod(**labels: str) -> core_v1.Pod:
        dashed = {name.replace("_", "-"): value for name, value in labels.items()}
        return core_v1.Pod(metadata=meta_v1.ObjectMeta(labels=dashed))

    assert version.labels == {"pod-template-generation": "3", "controller-revision-hash": "hash"}
    assert version.is_of(pod(controller_revision_hash="hash"))
    assert version.is_of(pod(pod_template_generation="3"))
    assert not version.is_of(pod(pod_template_generation="2"))
    assert version_of(AGENT, "hash") == Version(hash="hash", generation=None)


def test_a_failed_pod_is_replaced_with_backoff() -> None:
    failed, key, now = FailedPods(), ("uid", 1, "node-1"), NOW
    waits = []

    for _ in range(14):
        assert failed.wait_for(key, now) == 0
        waits.append(failed.wait_for(key, now))
        now += timedelta(seconds=waits[-1])

    assert waits[:4] == [1, 2, 4, 8]
    assert waits[-1] == MAX_SECONDS
    assert failed.wait_for(("uid", 1, "node-2"), now) == 0


def test_the_backoff_of_old_failures_expires() -> None:
    failed, key = FailedPods(), ("uid", 1, "node-1")
    failed.wait_for(key, NOW)
    failed.wait_for(("uid", 1, "node-2"), NOW)
    later = NOW + timedelta(seconds=2 * MAX_SECONDS + 1)

    failed.wait_for(key, later)

    assert failed.wait_for(key, later) == 1
    assert len(failed) == 1
