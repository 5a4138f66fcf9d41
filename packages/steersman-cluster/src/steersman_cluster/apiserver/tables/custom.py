"""The tables of custom resources, with the columns that their CRD declares."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.go_messages import go_text
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.table_columns import Cell, CellOf, Printer, TableColumn
from steersman_cluster.apiserver.tables.json_path import BadJsonPath, JsonPath
from steersman_cluster.apiserver.tables.printers import (
    ColumnCell,
    column,
    name_column,
    number,
    printer,
)

# Returns the cell of a value that is not missing.
_Shown: TypeAlias = Callable[[Any, Ages], Cell]

_INTEGER_LIMIT = 2**63

_AGE: Mapping[str, Any] = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def custom_printer(columns: Sequence[Mapping[str, Any]]) -> Printer:
    """Return the printer for ``columns``, the printer columns of a version in a CRD.

    Without columns, the table shows the name and the age of objects. The first column with an
    invalid path and all columns after it are omitted.
    """
    if not columns:
        return printer(name_column(), _custom_column(_AGE, description=""))
    understood: list[ColumnCell] = []
    for each in columns:
        try:
            understood.append(_custom_column(each, description=_description(each)))
        except BadJsonPath:
            break
    return printer(name_column(), *understood)


def _description(column: Mapping[str, Any]) -> str:
    path = column["jsonPath"]
    return column.get("description") or (
        f"Custom resource definition column (in JSONPath format): {path}"
    )


def _custom_column(column: Mapping[str, Any], *, description: str) -> ColumnCell:
    path, shown = JsonPath(column["jsonPath"]), _SHOWN.get(column["type"], _nothing)

    def cell(obj: Object, ages: Ages) -> Cell:
        is_there, value = path.first(obj)
        return shown(value, ages) if is_there else None

    return (
        TableColumn(
            name=column["name"],
            type=column["type"],
            format=column.get("format") or "",
            description=description,
            priority=column.get("priority") or 0,
        ),
        cell,
    )


def _nothing(value: Any, ages: Ages) -> None:  # noqa: ARG001 - the signature of the other functions
    return None


def _text(value: Any, _: Ages) -> str:
    if value is None:
        return "<no value>"
    if isinstance(value, dict | list):
        return _go_json(value)
    return go_text(value)


def _go_json(value: Any) -> str:
    """Return JSON with sorted keys, and with the HTML characters ``<``, ``>`` and ``&`` escaped."""
    text = msgspec.json.encode(value, order="sorted").decode()
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _integer(value: Any, _: Ages) -> int | None:
    if type(value) not in (int, float):
        return None
    # Go converts a float that is too large to the smallest int64.
    return int(value) if abs(value) < _INTEGER_LIMIT else -_INTEGER_LIMIT


def _number(value: Any, _: Ages) -> float | None:
    if type(value) not in (int, float):
        return None
    return value if abs(value) < _INTEGER_LIMIT else float(value)


def _boolean(value: Any, _: Ages) -> bool | None:
    return value if isinstance(value, bool) else None


def _date(value: Any, ages: Ages) -> str | None:
    if not isinstance(value, str):
        return None
    return ages.since("" if value == "null" else value)


_SHOWN: Mapping[str, _Shown] = {
    "boolean": _boolean,
    "date": _date,
    "integer": _integer,
    "number": _number,
    "string": _text,
}


def _or_none(cell: CellOf) -> CellOf:
    """Return a cell function that omits a zero, as Go does."""
    return lambda obj, ages: cell(obj, ages) or None


CUSTOM_SCALE = printer(
    name_column(),
    column("Desired", _or_none(number("spec.replicas")), "integer"),
    column("Available", number("status.replicas"), "integer"),
    _custom_column(_AGE, description=""),
)
