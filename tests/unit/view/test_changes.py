"""The changes since the last update of the view."""

from steersman.kinds import Unstructured
from steersman.names import GroupVersionKind
from steersman.view import ChangeLines, branches
from tests.unit.view.objects import app, condition, replicas, thing

APPS = {GroupVersionKind("app.example.com", "v1", "AppService")}


def lines(changes: ChangeLines, *objects: Unstructured) -> list[str]:
    return list(changes.lines(branches(objects, roots=APPS)))


def test_created_and_changed_objects_are_listed_with_their_owner() -> None:
    changes = ChangeLines()
    web = app("web", condition("Ready", "False", "RollingOut"))

    first = lines(changes, web, replicas("Deployment", "web", 0, 1, of=[web]))
    then = lines(changes, web, replicas("Deployment", "web", 1, 1, of=[web]))

    assert first == [
        "AppService default/web: not ready, RollingOut",
        "Deployment default/web, of AppService web: not ready, 0 of 1",
    ]
    assert then == ["Deployment default/web, of AppService web: ready, 1 of 1"]


def test_an_unchanged_object_is_not_reported_twice() -> None:
    changes = ChangeLines()
    lines(changes, app("web"))

    assert lines(changes, app("web")) == []


def test_deleted_objects_are_listed() -> None:
    changes = ChangeLines()
    lines(changes, app("web"))

    assert lines(changes) == ["AppService default/web is gone"]


def test_a_recreated_object_is_listed_even_if_unchanged() -> None:
    changes = ChangeLines()
    lines(changes, app("web"))

    assert lines(changes, thing("AppService", "web", metadata={"uid": "another"})) == [
        "AppService default/web: –, re-created"
    ]
