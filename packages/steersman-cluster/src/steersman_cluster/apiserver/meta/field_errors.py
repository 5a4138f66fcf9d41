"""What is wrong with one field, in the words that Kubernetes uses."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from steersman.units import quoted
from steersman_cluster.apiserver.meta.go_messages import float_text


class _Omitted:
    pass


OMITTED: Final = _Omitted()

# How each type begins its sentence, and whether it then shows the value.
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
    """One broken rule: which, where (``spec.ports[0].name``), by what value, and why."""

    type: str
    field: str
    value: Any
    detail: str

    @property
    def body(self) -> str:
        """The sentence without the field's name."""
        text, shows = _TYPES[self.type]
        if shows and self.value is not OMITTED:
            text = f"{text}: {shown(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"


def shown(value: Any) -> str:
    """A value as the messages have it: text in quotes, anything else as JSON as Go writes it."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        return float_text(value)
    text = msgspec.json.encode(value, order="sorted").decode()
    return text.translate(_ESCAPED) if isinstance(value, (dict, list, msgspec.Raw)) else text


# Go's JSON could stand in a web page.
_ESCAPED: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def aggregated(errors: Iterable[FieldError]) -> str:
    """All of them in one sentence, each once, in brackets if there are several."""
    sentences = list(dict.fromkeys(str(each) for each in errors))
    return sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"


def required(field: str, detail: str = "") -> FieldError:
    """It must be there."""
    return FieldError("FieldValueRequired", field, OMITTED, detail)


def invalid(field: str, value: Any, detail: str) -> FieldError:
    """The value breaks a rule."""
    return FieldError("FieldValueInvalid", field, value, detail)


def all_invalid(field: str, value: Any, sentences: Iterable[str]) -> list[FieldError]:
    """The value breaks each of these rules."""
    return [invalid(field, value, each) for each in sentences]


def immutable(field: str, value: Any) -> FieldError:
    """It may not be changed; the value is what it would have become."""
    return invalid(field, value, "field is immutable")


def type_invalid(field: str, value: Any, detail: str) -> FieldError:
    """The value is of the wrong type."""
    return FieldError("FieldValueTypeInvalid", field, value, detail)


def forbidden(field: str, detail: str) -> FieldError:
    """It must not be there, or not be changed."""
    return FieldError("FieldValueForbidden", field, OMITTED, detail)


def duplicate(field: str, value: Any) -> FieldError:
    """The value is there already."""
    return FieldError("FieldValueDuplicate", field, value, "")


def not_found(field: str, value: Any) -> FieldError:
    """What it refers to does not exist."""
    return FieldError("FieldValueNotFound", field, value, "")


def not_supported(field: str, value: Any, supported: Sequence[str]) -> FieldError:
    """It is none of the few values that are possible; they are named in the given order."""
    detail = "supported values: " + ", ".join(shown(each) for each in supported)
    return FieldError("FieldValueNotSupported", field, value, detail if supported else "")


def too_long(field: str, value: Any, limit: int) -> FieldError:
    """Longer than ``limit`` bytes."""
    unit = "byte" if limit == 1 else "bytes"
    detail = f"may not be more than {limit} {unit}" if limit >= 0 else "value is too long"
    return FieldError("FieldValueTooLong", field, value, detail)


def too_many(field: str, count: int, limit: int) -> FieldError:
    """More than ``limit`` entries."""
    items = "item" if limit == 1 else "items"
    return FieldError("FieldValueTooMany", field, count, f"must have at most {limit} {items}")


def internal(field: str, detail: str) -> FieldError:
    """The server failed while it looked at the field."""
    return FieldError("InternalError", field, OMITTED, detail)
