"""Objects as a tree of owners."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from steersman.kinds import Unstructured
from steersman.names import GroupVersionKind, ObjectRef
from steersman.view import Reconciled, branches, fitting_lines, text_of, tree_lines
from steersman.view.lines import width_of
from steersman.view.tree import length_ago
from tests.unit.view.objects import app, condition, replicas, thing

APPS = {GroupVersionKind("app.example.com", "v1", "AppService")}
NOW = datetime(2026, 1, 1, 0, 0, 12, tzinfo=UTC)


def rollout() -> list[Unstructured]:
    web = app("web", condition("Ready", "False", "RollingOut"))
    deployment = replicas("Deployment", "web", 1, 2, of=[web])
    replica_set = replicas("ReplicaSet", "web-1", 1, 2, of=[deployment])
    running = {"phase": "Running", "conditions": [condition("Ready", "True")]}
    one = thing("Pod", "web-1-a", of=[replica_set], status=running)
    two = thing("Pod", "web-1-b", of=[replica_set])
    service = thing("Service", "web", of=[web], spec={"clusterIP": "10.0.0.1"})
    return [two, one, replica_set, service, deployment, web]


def shown(objects: list[Unstructured], *done: Reconciled, width: int = 100) -> list[str]:
    lines = tree_lines(
        branches(objects, roots=APPS),
        reconciles={each.ref: each for each in done},
        now=NOW,
        width=width,
    )
    return [text_of(line).rstrip() for line in lines]


def test_an_object_stands_below_its_owner() -> None:
    assert shown(rollout()) == [
        "OBJECT                  STATE                  AGE",
        "AppService default/web  not ready  RollingOut  12s",
        "├─ Deployment web       not ready  1 of 2      12s",
        "│  └─ ReplicaSet web-1  not ready  1 of 2      12s",
        "│     ├─ Pod web-1-a    ready      Running     12s",
        "│     └─ Pod web-1-b    not ready  Pending     12s",
        "└─ Service web          ready                  12s",
    ]


def test_the_last_reconcile_is_shown_below_its_object_with_its_reason() -> None:
    done = Reconciled(
        ref=ObjectRef("AppService", "default", "web"),
        controller="appservice",
        outcome="later",
        took_seconds=0.005,
        time=NOW - timedelta(seconds=3),
        why="spec.size changed",
        did="applied Deployment default/web",
    )

    lines = shown(rollout(), done)

    assert lines[2] == (
        "│ reconciled 3s ago: returned Later in 5 ms; because spec.size changed;"
        " applied Deployment default/…"
    )


def test_the_other_conditions_have_their_own_line() -> None:
    web = app("web", condition("Ready", "True", "Up"), condition("Progressing", "True"))

    assert shown([web])[2] == "  conditions: Progressing"


def test_an_object_of_another_kind_without_an_owner_is_not_shown() -> None:
    assert shown([thing("ConfigMap", "a"), thing("Pod", "b")]) == []


def test_an_object_without_its_owner_is_shown_at_the_top_level() -> None:
    orphan = thing("AppService", "child", of=[app("gone")])

    assert shown([orphan])[1].startswith("AppService default/child")


def test_an_object_with_several_owners_is_shown_below_its_controller() -> None:
    one, two = app("one"), app("two")
    shared = thing("ConfigMap", "shared", of=[one, two])

    found = branches([shared, two, one], roots=APPS)

    assert [(each.obj.name, len(each.children)) for each in found] == [("one", 0), ("two", 1)]


def test_a_cycle_of_owners_does_not_make_an_endless_tree() -> None:
    one = thing("AppService", "one")
    two = thing("AppService", "two", of=[one])
    one.metadata["ownerReferences"].append({"uid": two.uid})

    assert branches([one, two], roots=APPS) == ()


@pytest.mark.parametrize("width", [1, 10, 20, 33, 47, 60, 80, 200])
def test_a_line_is_never_wider_than_the_terminal(width: int) -> None:
    lines = shown([*rollout(), app("日本語日本語日本語日本語")], width=width)

    assert max(map(width_of, lines)) <= width


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-1, "0s"), (0.9, "0s"), (119, "119s"), (120, "2m"), (7200, "2h"), (200_000, "2d")],
)
def test_ages_are_shown_as_in_kubectl(seconds: float, said: str) -> None:
    assert length_ago(seconds) == said


def running_app(name: str) -> list[Unstructured]:
    ready = app(name, condition("Ready", "True", "RolledOut"))
    return [ready, replicas("Deployment", name, 2, 2, of=[ready])]


def fitted(objects: list[Unstructured], *done: Reconciled, height: int) -> list[str]:
    lines = fitting_lines(
        branches(objects, roots=APPS),
        reconciles={each.ref: each for each in done},
        now=NOW,
        size=(100, height),
    )
    return [re.split(r"(?<=\w)  ", text_of(line))[0] for line in lines]


def reconciled_with(outcome: str, name: str) -> Reconciled:
    return Reconciled(
        ref=ObjectRef("AppService", "default", name),
        controller="appservice",
        outcome=outcome,
        took_seconds=0.005,
        time=NOW,
    )


def test_if_not_all_lines_fit_objects_with_problems_come_first() -> None:
    objects = [*running_app("a"), *running_app("b"), *rollout()]

    assert fitted(objects, height=11)[1:3] == ["AppService default/a", "└─ Deployment a"]
    assert fitted(objects, height=10) == [
        "OBJECT",
        "AppService default/web",
        "├─ Deployment web",
        "│  └─ ReplicaSet web-1",
        "│     ├─ Pod web-1-a",
        "│     └─ Pod web-1-b",
        "└─ Service web",
        "AppService default/a",
        "AppService default/b",
    ]
    assert fitted(objects, height=4)[-1] == "… and 6 more lines"


def test_an_object_with_a_failed_reconcile_is_marked_as_a_problem() -> None:
    objects = [*running_app("a"), *running_app("b")]
    done = (reconciled_with("done", "a"), reconciled_with("failed", "b"))

    assert fitted(objects, *done, height=5) == [
        "OBJECT",
        "AppService default/b",
        "│ reconciled 0s ago: failed in 5 ms",
        "└─ Deployment b",
        "AppService default/a",
    ]
