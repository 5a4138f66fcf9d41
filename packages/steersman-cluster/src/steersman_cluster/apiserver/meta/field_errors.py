"""Errors about single fields, with the messages of Kubernetes."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from steersman.units import quoted
from steersman_cluster.apiserver.meta.go_messages import float_text


class _Omitted:
    pass


OMITTED: Final = _Omitted()

# The text of each error type, and whether the message contains the value.
_TYPES = {
    "FieldValueRequired": ("Required value", False),
    "FieldValueForbidden": ("Forbidden", False),
    "FieldValueTooLong": ("Too long", False),
    "FieldValueTooShort": ("Too short", False),
    "InternalError": ("Internal error", False),
    "FieldValueInvalid": ("Invalid value", True),
    "FieldValueTypeInvalid": ("Invalid value", True),
    "FieldValueNotSupported": ("Unsupported value", True),
    "FieldValueNotFound": ("Not found", True),
    "FieldValueDuplicate": ("Duplicate value", True),
    "FieldValueTooMany": ("Too many", True),
    "FieldValueTooFew": ("Too few", True),
}


class FieldError(NamedTuple):
    """A violated rule: its type, the field (``spec.ports[0].name``), the value and the detail."""

    type: str
    field: str
    value: Any
    detail: str

    @property
    def body(self) -> str:
        """Return the message without the name of the field."""
        text, shows = _TYPES[self.type]
        if shows and self.value is not OMITTED:
            text = f"{text}: {shown(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"


def shown(value: Any) -> str:
    """Format a value for an error message: a string in quotes, any other value as Go's JSON."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        return float_text(value)
    text = msgspec.json.encode(value, order="sorted").decode()
    return text.translate(_ESCAPED) if isinstance(value, (dict, list, msgspec.Raw)) else text


# Go's JSON encoder escapes these characters for HTML.
_ESCAPED: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def aggregated(errors: Iterable[FieldError]) -> str:
    """Join the messages of ``errors`` into one text, without duplicates.

    Several messages are put in brackets.
    """
    sentences = list(dict.fromkeys(str(each) for each in errors))
    return sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"


def required(field: str, detail: str = "") -> FieldError:
    """An error for a required field that is missing."""
    return FieldError("FieldValueRequired", field, OMITTED, detail)


def invalid(field: str, value: Any, detail: str) -> FieldError:
    """An error for a value that violates a rule."""
    return FieldError("FieldValueInvalid", field, value, detail)


def all_invalid(field: str, value: Any, sentences: Iterable[str]) -> list[FieldError]:
    """Return one ``invalid`` error for each of ``sentences``, the messages of violated rules."""
    return [invalid(field, value, each) for each in sentences]


def immutable(field: str, value: Any) -> FieldError:
    """An error for a change of an immutable field; ``value`` is the new value."""
    return invalid(field, value, "field is immutable")


def type_invalid(field: str, value: Any, detail: str) -> FieldError:
    """An error for a value of the wrong type."""
    return FieldError("FieldValueTypeInvalid", field, value, detail)


def forbidden(field: str, detail: str) -> FieldError:
    """An error for a field that must not be set, or must not be changed."""
    return FieldError("FieldValueForbidden", field, OMITTED, detail)


def duplicate(field: str, value: Any) -> FieldError:
    """An error for a value that occurs twice."""
    return FieldError("FieldValueDuplicate", field, value, "")


def not_found(field: str, value: Any) -> FieldError:
    """An error for ``value``, a reference to something that does not exist."""
    return FieldError("FieldValueNotFound", field, value, "")


def not_supported(field: str, value: Any, supported: Sequence[str]) -> FieldError:
    """An error for an unsupported value; the message lists ``supported`` in the given order."""
    detail = "supported values: " + ", ".join(shown(each) for each in supported)
    return FieldError("FieldValueNotSupported", field, value, detail if supported else "")


def too_long(field: str, value: Any, limit: int) -> FieldError:
    """An error for a value that is longer than ``limit`` bytes."""
    unit = "byte" if limit == 1 else "bytes"
    detail = f"may not be more than {limit} {unit}" if limit >= 0 else "value is too long"
    return FieldError("FieldValueTooLong", field, value, detail)


def too_many(field: str, count: int, limit: int) -> FieldError:
    """An error for a list or map with more than ``limit`` entries."""
    items = "item" if limit == 1 else "items"
    return FieldError("FieldValueTooMany", field, count, f"must have at most {limit} {items}")


def internal(field: str, detail: str) -> FieldError:
    """An error for a failure of the server while it validates ``field``."""
    return FieldError("InternalError", field, OMITTED, detail)
