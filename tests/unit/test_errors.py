"""Error messages: what was requested, why it failed, and what to do."""

import copy
import inspect
import pickle
from types import ModuleType

import pytest

from steersman import errors
from steersman.errors import BadValue, Cause, Conflict, InvalidObject, NotFound, SteersmanError
from steersman_cluster import errors as cluster_errors
from steersman_cluster.errors import UnknownExample

PACKAGES = (errors, cluster_errors)

ALL = [
    (package, each)
    for package in PACKAGES
    for _, each in inspect.getmembers(package, inspect.isclass)
    if issubclass(each, Exception)
]


@pytest.mark.parametrize(
    ("package", "error"), ALL, ids=[f"{each.__module__}.{each.__name__}" for _, each in ALL]
)
def test_every_error_is_in_the_tree_of_the_docstring(
    package: ModuleType, error: type[Exception]
) -> None:
    assert issubclass(error, SteersmanError)
    assert error.__name__ in str(package.__doc__).split()
    assert error.__doc__


@pytest.mark.parametrize("package", PACKAGES, ids=lambda each: each.__name__)
def test_every_class_in_the_tree_exists(package: ModuleType) -> None:
    drawn = {
        line.split("─ ")[1].split()[0] for line in str(package.__doc__).splitlines() if "─ " in line
    }

    assert drawn <= {each.__name__ for _, each in ALL}


def test_an_error_of_the_server_has_the_request_and_says_what_to_do() -> None:
    error = Conflict(
        wanted="apply Deployment default/web",
        code=409,
        reason="Conflict",
        message='conflict with "kubectl": .spec.replicas',
        causes=(Cause(reason="FieldManagerConflict", message="x", field=".spec.replicas"),),
    )

    assert str(error) == (
        "could not apply Deployment default/web: the server responded with 409 Conflict:"
        ' conflict with "kubectl": .spec.replicas. Leave out the'
        " fields that another manager owns, or set them with force=True."
    )
    assert error.causes[0].field == ".spec.replicas"


def test_the_error_for_a_conflict_says_to_read_the_object_again() -> None:
    error = Conflict(wanted="update it", code=409, reason="Conflict", message="it was modified")

    assert str(error).endswith(
        "it was modified. Read the object again, and retry with its current state."
    )


@pytest.mark.parametrize(
    "error",
    [
        NotFound(wanted="get Pod a/b", code=404, reason="NotFound", message="no such pod"),
        UnknownExample(name="webapp", known=["appservice"], like=None),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_can_be_copied_and_sent_to_another_process(error: SteersmanError) -> None:
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_an_error_without_advice_ends_with_the_servers_message() -> None:
    error = NotFound(
        wanted="get Pod a/b", code=404, reason="NotFound", message='pods "b" not found'
    )

    assert str(error).endswith('404 NotFound: pods "b" not found.')


def test_the_error_for_an_invalid_object_has_it_as_an_attribute_but_does_not_show_it() -> None:
    body = {"data": {"password": "canary-7f3a"}}

    error = InvalidObject(
        ref="Secret default/s", into="Secret", problem="Expected `str`", body=body
    )

    assert error.body is body
    assert "canary-7f3a" not in f"{error}{error!r}{error.args}"


@pytest.mark.parametrize(
    "value", ["x" * 500, ["y"] * 500, 10**5000], ids=["text", "list", "number"]
)
def test_a_long_value_is_truncated_in_a_message(value: object) -> None:
    error = BadValue(wanted="a thing", value=value, rule="it is short")

    assert len(str(error)) < 130
    assert error.value is value
