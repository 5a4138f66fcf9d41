"""Tables of custom resources."""

from typing import Any

import pytest

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.table_columns import Cell, Printer
from steersman_cluster.apiserver.tables import custom_printer
from steersman_cluster.apiserver.tables.custom import CUSTOM_SCALE
from tests.unit.apiserver.tables.table_samples import ABOUT, AGE, NOW


def column(type_: str, path: str = ".spec.value", **more: Any) -> dict[str, Any]:
    return {"name": "Value", "type": type_, "jsonPath": path, **more}


def row(printer: Printer, value: Any = None) -> list[Cell]:
    return list(printer.cells({"metadata": ABOUT, "spec": {"value": value}}, Ages(NOW)))


CELLS: list[tuple[str, Any, Cell]] = [
    ("string", "text", "text"),
    ("string", 7, "7"),
    ("string", 2.5, "2.5"),
    ("string", 1e30, "1e+30"),
    ("string", True, "true"),
    ("string", None, "<no value>"),
    ("string", {"b": 1, "a": "<x>"}, '{"a":"\\u003cx\\u003e","b":1}'),
    ("string", ["a", 1], '["a",1]'),
    ("integer", 7, 7),
    ("integer", 7.9, 7),
    ("integer", 1e30, -(2**63)),
    ("integer", "7", None),
    ("integer", True, None),
    ("number", 7, 7),
    ("number", 2.5, 2.5),
    ("number", "2.5", None),
    ("boolean", False, False),
    ("boolean", "false", None),
    ("date", "2026-06-15T11:00:00Z", "60m"),
    ("date", "", "<unknown>"),
    ("date", "null", "<unknown>"),
    ("date", "yesterday", "<invalid>"),
    ("date", 7, None),
    ("other", "x", None),
]


@pytest.mark.parametrize(("type_", "value", "cell"), CELLS)
def test_a_cell_has_the_type_of_its_column(type_: str, value: Any, cell: Cell) -> None:
    shown = row(custom_printer([column(type_)]), value)[1]

    assert (shown, type(shown)) == (cell, type(cell))


@pytest.mark.parametrize("type_", ["string", "integer", "number", "boolean", "date"])
def test_a_cell_whose_path_has_no_value_is_null(type_: str) -> None:
    assert row(custom_printer([column(type_, ".spec.value.more")]), "x") == ["one", None]


def test_a_custom_resource_has_the_printer_columns_of_its_definition() -> None:
    columns = [
        column("integer", format="int32", priority=1, description="what it is for"),
        column("string", ".spec.other"),
    ]

    _, first, second = custom_printer(columns).columns

    assert first.definition() == {
        "name": "Value",
        "type": "integer",
        "format": "int32",
        "description": "what it is for",
        "priority": 1,
    }
    assert second.description.endswith("column (in JSONPath format): .spec.other")


def test_a_custom_resource_without_printer_columns_has_an_age_column() -> None:
    printer = custom_printer(())

    assert [(each.name, each.type) for each in printer.columns] == [
        ("Name", "string"),
        ("Age", "date"),
    ]
    assert row(printer) == ["one", AGE]


def test_columns_from_the_first_with_an_invalid_path_are_omitted() -> None:
    columns = [column("string"), column("string", ".spec.list[x]"), column("string")]

    assert row(custom_printer(columns), "x") == ["one", "x"]


def test_the_scale_of_a_custom_resource_omits_zero_desired_replicas() -> None:
    def cells(wanted: int) -> list[Cell]:
        scale = {"metadata": ABOUT, "spec": {"replicas": wanted}, "status": {"replicas": 0}}
        return list(CUSTOM_SCALE.cells(scale, Ages(NOW)))

    assert (cells(3), cells(0)) == (["one", 3, 0, AGE], ["one", None, 0, AGE])
