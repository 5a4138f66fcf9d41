"""Status writes contain only the difference."""

from typing import Any

from steersman_cluster.workloads.status_writer import merge_difference, pod_difference

READY = {"type": "Ready", "status": "False", "reason": "ContainersNotReady"}
THEIRS = {"type": "example.com/open", "status": "True"}


def test_a_merge_patch_has_added_changed_and_removed_fields() -> None:
    before = {"replicas": 1, "kept": "so", "inner": {"a": 1, "b": 2}, "gone": 1}
    after = {"replicas": 2, "kept": "so", "inner": {"a": 1, "b": 3}, "new": [1]}

    change = merge_difference(before, after)

    assert change == {"gone": None, "replicas": 2, "inner": {"b": 3}, "new": [1]}


def test_only_changed_pod_conditions_are_written() -> None:
    before = {"conditions": [THEIRS, READY]}
    after = {"conditions": [THEIRS, {"type": "Ready", "status": "True"}]}

    change = pod_difference(before, after)

    assert change == {
        "conditions": [{"type": "Ready", "status": "True", "reason": None}],
        "$setElementOrder/conditions": [{"type": "example.com/open"}, {"type": "Ready"}],
    }


def test_a_pods_conditions_in_another_order_are_not_written() -> None:
    assert pod_difference({"conditions": [READY, THEIRS]}, {"conditions": [THEIRS, READY]}) == {}


def test_a_new_pod_address_replaces_the_old_one() -> None:
    def at(address: str) -> dict[str, Any]:
        return {"podIP": address, "podIPs": [{"ip": address}]}

    first, second = pod_difference({}, at("10.0.0.1")), pod_difference(at("10.0.0.1"), at("::2"))

    assert first == at("10.0.0.1")
    assert second == {"podIP": "::2", "podIPs": [{"ip": "::2"}, {"$patch": "replace"}]}
