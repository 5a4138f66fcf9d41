"""The result of a delete request, or of a write that removes a finalizer."""

from typing import Any

import pytest

from steersman.client import is_gone
from steersman.client.deletion import deletion_result
from steersman.kinds import Codec, Resource, Unstructured, core_v1

ENDING: dict[str, Any] = {"deletionTimestamp": "2026-11-15T08:51:02Z"}
AT_ONCE: dict[str, Any] = {**ENDING, "deletionGracePeriodSeconds": 0}
IN_A_WHILE: dict[str, Any] = {**ENDING, "deletionGracePeriodSeconds": 30}
HELD: dict[str, Any] = {**AT_ONCE, "finalizers": ["tests.example.com/hold"]}

LOOSE = {
    kind: Unstructured.of("v1", kind, namespaced=kind != "Namespace")
    for kind in ("Namespace", "Secret")
}
TYPED = {"Namespace": core_v1.Namespace, "Secret": core_v1.Secret}


def both(kind: str, marks: dict[str, Any]) -> tuple[Resource, Unstructured]:
    """An object, typed and unstructured."""
    codec = Codec()
    body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "uid": "u-1", **marks}}
    data = codec.encode(body)
    return (
        codec.decode(TYPED[kind], data, wanted="a test"),
        codec.decode(LOOSE[kind], data, wanted="a test"),
    )


@pytest.mark.parametrize(
    ("kind", "marks", "gone"),
    [
        pytest.param("Secret", {}, True, id="answered as it was"),
        pytest.param("Secret", {"finalizers": []}, True, id="no finalizers"),
        pytest.param("Secret", AT_ONCE, True, id="no grace"),
        pytest.param("Secret", {**AT_ONCE, "finalizers": []}, True, id="no grace, no finalizers"),
        pytest.param("Secret", ENDING, False, id="grace not named"),
        pytest.param("Secret", IN_A_WHILE, False, id="grace"),
        pytest.param("Secret", HELD, False, id="held"),
        pytest.param("Namespace", {}, False, id="namespace as it was"),
        pytest.param("Namespace", ENDING, False, id="namespace marked"),
        pytest.param("Namespace", AT_ONCE, False, id="namespace without grace"),
    ],
)
def test_an_object_in_a_delete_response_is_gone_only_without_finalizers(
    kind: str, marks: dict[str, Any], gone: bool
) -> None:
    for obj in both(kind, marks):
        answer = deletion_result(obj, tried_only=False)

        assert (answer.obj, answer.uid, answer.is_gone) == (obj, "u-1", gone)


@pytest.mark.parametrize("marks", [{}, AT_ONCE, HELD])
def test_a_dry_run_of_a_deletion_never_reports_an_object_as_gone(marks: dict[str, Any]) -> None:
    for obj in both("Secret", marks):
        assert not deletion_result(obj, tried_only=True).is_gone


@pytest.mark.parametrize(
    ("kind", "marks", "gone"),
    [
        pytest.param("Secret", {}, False, id="alive"),
        pytest.param("Secret", AT_ONCE, True, id="no grace"),
        pytest.param("Secret", ENDING, True, id="grace not named"),
        pytest.param("Secret", IN_A_WHILE, False, id="grace"),
        pytest.param("Secret", HELD, False, id="held"),
        pytest.param("Namespace", ENDING, False, id="namespace"),
    ],
)
def test_a_write_that_removes_the_last_finalizer_reports_the_object_as_gone(
    kind: str, marks: dict[str, Any], gone: bool
) -> None:
    for obj in both(kind, marks):
        assert is_gone(obj) is gone


def test_is_gone_works_for_objects_of_every_kind() -> None:
    obj = Unstructured({"apiVersion": "v1", "kind": "Secret", "metadata": AT_ONCE})

    assert is_gone(obj)
