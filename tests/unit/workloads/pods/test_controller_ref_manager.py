"""Adoption and release of Pods by their controllers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.kinds import core_v1, meta_v1
from steersman_cluster.workloads.pods import (
    by_controller_or_labels,
    by_selector,
    claimed,
    is_empty,
    selector_index_key,
    selects,
)
from tests.unit.workloads.pods.samples import pod, replica_set

OTHER = replica_set("other")


def names(pods: tuple[core_v1.Pod, ...]) -> list[str]:
    return [each.name for each in pods]


def test_a_pod_with_another_controller_is_never_claimed() -> None:
    claim = claimed(replica_set(), replica_set().spec.selector, [pod(owner=OTHER)])  # type: ignore[union-attr]

    assert claim.ours == claim.adopt == claim.release == ()


def test_matching_pods_are_kept_or_adopted_and_others_released() -> None:
    rs = replica_set()
    strange = {"app": "else"}
    pods = [
        pod("ours", owner=rs),
        pod("orphan"),
        pod("ours-no-longer", owner=rs, labels=strange),
        pod("orphan-else", labels=strange),
    ]

    claim = claimed(rs, meta_v1.LabelSelector(match_labels={"app": "web"}), pods)

    assert names(claim.ours) == ["ours"]
    assert names(claim.adopt) == ["orphan"]
    assert names(claim.release) == ["ours-no-longer"]


def test_an_owner_in_deletion_neither_adopts_nor_releases() -> None:
    rs = replica_set(ending=True)
    pods = [pod("ours", owner=rs), pod("orphan"), pod("lost", owner=rs, labels={})]

    claim = claimed(rs, meta_v1.LabelSelector(match_labels={"app": "web"}), pods)

    assert names(claim.ours) == ["ours"]
    assert claim.adopt == claim.release == ()


def test_a_terminating_pod_is_not_adopted() -> None:
    selector = meta_v1.LabelSelector(match_labels={"app": "web"})

    assert claimed(replica_set(), selector, [pod(ending=True)]).adopt == ()


def test_adoption_also_requires_the_extra_condition() -> None:
    rs = replica_set()
    selector = meta_v1.LabelSelector(match_labels={"app": "web"})
    pods = [pod("web-1", owner=rs), pod("api-1", owner=rs)]

    claim = claimed(rs, selector, pods, is_fit=lambda each: each.name.startswith("web"))

    assert names(claim.ours) == ["web-1"]
    assert names(claim.release) == ["api-1"]


@pytest.mark.parametrize(
    ("operator", "values", "matching"),
    [
        ("In", ("web", "api"), [{"app": "web"}, {"app": "api"}]),
        ("NotIn", ("web",), [{"app": "api"}, {}]),
        ("Exists", None, [{"app": "web"}, {"app": "api"}]),
        ("DoesNotExist", None, [{}]),
        ("Unknown", ("web",), []),
    ],
)
def test_selector_expressions_match_as_on_the_server(
    operator: str, values: tuple[str, ...] | None, matching: list[dict[str, str]]
) -> None:
    requirement = meta_v1.LabelSelectorRequirement(key="app", operator=operator, values=values)
    selector = meta_v1.LabelSelector(match_expressions=(requirement,))

    seen = [labels for labels in ({"app": "web"}, {"app": "api"}, {}) if selects(selector, labels)]

    assert seen == matching


def test_a_missing_selector_matches_nothing_and_an_empty_one_everything() -> None:
    assert not selects(None, {"app": "web"})
    assert selects(meta_v1.LabelSelector(), {"app": "web"})
    assert is_empty(meta_v1.LabelSelector())
    assert not is_empty(None)


LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy"), max_size=3)


@given(LABELS, LABELS)
def test_a_selected_pod_without_a_controller_is_found_without_a_scan_of_the_others(
    wanted: dict[str, str], labels: dict[str, str]
) -> None:
    selector = meta_v1.LabelSelector(match_labels=wanted)
    orphan = pod(labels=labels)

    is_found = selector_index_key("here", selector) in by_controller_or_labels(orphan)

    assert is_found or not selects(selector, labels)


def test_a_controlled_pod_is_indexed_only_by_its_controller() -> None:
    assert by_controller_or_labels(pod(owner=OTHER)) == ("uid-of-other",)


def test_selecting_objects_are_found_by_the_labels_of_a_pod() -> None:
    both = meta_v1.LabelSelector(match_labels={"app": "web", "tier": "front"})
    neither = meta_v1.LabelSelector(match_labels={"app": "api"})
    labels = pod(labels={"app": "web", "tier": "front"})

    assert set(by_selector(replica_set(selector=both))) <= set(by_controller_or_labels(labels))
    assert not set(by_selector(replica_set(selector=neither))) & set(
        by_controller_or_labels(labels)
    )
