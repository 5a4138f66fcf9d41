"""Whose Pods are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.kinds import core_v1, meta_v1
from steersman_cluster.workloads.pods import (
    by_holder,
    by_selector,
    claimed,
    is_empty,
    selected_under,
    selects,
)
from tests.unit.workloads.pods.samples import pod, replica_set

OTHER = replica_set("other")


def names(pods: tuple[core_v1.Pod, ...]) -> list[str]:
    return [each.name for each in pods]


def test_a_pod_with_another_controller_is_never_claimed() -> None:
    claim = claimed(replica_set(), replica_set().spec.selector, [pod(owner=OTHER)])  # type: ignore[union-attr]

    assert claim.ours == claim.adopt == claim.release == ()


def test_what_matches_is_kept_or_adopted_and_what_does_not_is_let_go() -> None:
    rs = replica_set()
    strange = {"app": "else"}
    pods = [
        pod("ours", owner=rs),
        pod("nobodys"),
        pod("ours-no-longer", owner=rs, labels=strange),
        pod("nobodys-else", labels=strange),
    ]

    claim = claimed(rs, meta_v1.LabelSelector(match_labels={"app": "web"}), pods)

    assert names(claim.ours) == ["ours"]
    assert names(claim.adopt) == ["nobodys"]
    assert names(claim.release) == ["ours-no-longer"]


def test_an_owner_that_is_going_keeps_what_it_has_and_takes_and_gives_nothing() -> None:
    rs = replica_set(ending=True)
    pods = [pod("ours", owner=rs), pod("nobodys"), pod("lost", owner=rs, labels={})]

    claim = claimed(rs, meta_v1.LabelSelector(match_labels={"app": "web"}), pods)

    assert names(claim.ours) == ["ours"]
    assert claim.adopt == claim.release == ()


def test_a_pod_that_is_going_is_not_adopted() -> None:
    selector = meta_v1.LabelSelector(match_labels={"app": "web"})

    assert claimed(replica_set(), selector, [pod(ending=True)]).adopt == ()


def test_what_beside_the_selector_must_be_so_is_asked_too() -> None:
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
        ("Unheard", ("web",), []),
    ],
)
def test_expressions_mean_what_they_mean_to_the_server(
    operator: str, values: tuple[str, ...] | None, matching: list[dict[str, str]]
) -> None:
    requirement = meta_v1.LabelSelectorRequirement(key="app", operator=operator, values=values)
    selector = meta_v1.LabelSelector(match_expressions=(requirement,))

    seen = [labels for labels in ({"app": "web"}, {"app": "api"}, {}) if selects(selector, labels)]

    assert seen == matching


def test_no_selector_selects_nothing_and_an_empty_one_everything() -> None:
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

    is_found = selected_under("here", selector) in by_holder(orphan)

    assert is_found or not selects(selector, labels)


def test_what_is_controlled_is_found_by_its_owner_only() -> None:
    assert by_holder(pod(owner=OTHER)) == ("uid-of-other",)


def test_those_who_select_are_found_by_the_labels_of_what_they_select() -> None:
    both = meta_v1.LabelSelector(match_labels={"app": "web", "tier": "front"})
    neither = meta_v1.LabelSelector(match_labels={"app": "api"})
    labels = pod(labels={"app": "web", "tier": "front"})

    assert set(by_selector(replica_set(selector=both))) <= set(by_holder(labels))
    assert not set(by_selector(replica_set(selector=neither))) & set(by_holder(labels))
