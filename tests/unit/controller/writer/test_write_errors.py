"""The meaning of the server's error responses to writes."""

from typing import Any

import pytest

from steersman.controller.writer.write_errors import (
    as_invalid,
    held_fields,
    is_failed_test,
    is_other_object,
    is_schema_mismatch,
)
from steersman.errors import ApiError, Cause, Conflict, Invalid, ServerFailed


def error(kind: type[ApiError], message: str = "no", *causes: Cause) -> ApiError:
    return kind(wanted="apply it", code=422, reason="", message=message, causes=causes)


UID = Cause(reason="FieldValueInvalid", message="field is immutable", field="metadata.uid")
HELD = Cause(reason="FieldManagerConflict", message='conflict with "them"', field=".spec.size")


@pytest.mark.parametrize(
    ("refusal", "is_so"),
    [
        (error(Invalid, "no", UID), True),
        (error(Invalid, "no", HELD), False),
        (error(Conflict, "no", UID), False),
    ],
)
def test_a_rejected_uid_means_another_object(refusal: Any, is_so: bool) -> None:
    assert is_other_object(refusal) is is_so


def test_a_test_that_failed_has_no_cause() -> None:
    assert is_failed_test(error(Invalid))
    assert not is_failed_test(error(Invalid, "no", UID))
    assert not is_failed_test(error(Conflict))


def test_the_fields_of_other_managers_are_named() -> None:
    assert held_fields(error(Conflict, "no", HELD, UID)) == ("spec.size",)
    assert held_fields(error(Conflict)) == ()


def test_a_schema_mismatch_is_invalid_whatever_the_servers_code() -> None:
    said = "failed to create typed patch object (a/b; v1, Kind=A): .status.ready: expected numeric"

    assert is_schema_mismatch(error(ServerFailed, said))
    assert not is_schema_mismatch(error(ServerFailed, "out of memory"))
    assert "status.ready" in str(as_invalid(error(ServerFailed, said)))
