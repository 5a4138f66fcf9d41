"""The building blocks of tables: columns and their cell functions, combined to a printer."""

from collections.abc import Callable
from typing import Any, TypeAlias

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.meta.table_columns import Cell, CellOf, Column, Printer

# A column, and the function of its cells.
ColumnCell: TypeAlias = tuple[Column, CellOf]


def column(name: str, cell: CellOf, type_: str = "string", format_: str = "") -> ColumnCell:
    """Return a column that is always shown."""
    return Column(name=name, type=type_, format=format_), cell


def wide_column(name: str, cell: CellOf) -> ColumnCell:
    """Return a column that is shown only in wide output."""
    return Column(name=name, priority=1), cell


def name_column(cell: CellOf | None = None) -> ColumnCell:
    """Return the column of the object's name."""
    return column("Name", name_of if cell is None else cell, format_="name")


def age_column() -> ColumnCell:
    """Return the column of the object's age."""
    return column("Age", age_of)


def printer(*columns: ColumnCell, order: Callable[[Object], Any] | None = None) -> Printer:
    """Return a printer of independent columns, each with its own cell function."""
    functions = tuple(cell for _, cell in columns)

    def cells(obj: Object, ages: Ages) -> list[Cell]:
        return [cell(obj, ages) for cell in functions]

    return Printer(columns=tuple(column for column, _ in columns), cells=cells, order=order)


def name_of(obj: Object, _: Ages) -> str:
    """Return the object's name; empty for a bookmark."""
    return str(obj["metadata"].get("name", ""))


def age_of(obj: Object, ages: Ages) -> str:
    """Return the object's age."""
    return ages.since(obj["metadata"].get("creationTimestamp"))


def at(path: str, otherwise: Cell = "") -> CellOf:
    """Return a cell function for the value at a dotted path; ``otherwise`` if it is missing."""
    *way, last = path.split(".")

    def cell(obj: Object, _: Ages) -> Cell:
        for step in way:
            obj = obj.get(step) or {}
        found: Cell = obj.get(last)
        return otherwise if found is None else found

    return cell


def filled(path: str, otherwise: str) -> CellOf:
    """Return a cell function for the value at a dotted path; ``otherwise`` if missing or empty."""
    found = at(path)

    def cell(obj: Object, ages: Ages) -> Cell:
        return found(obj, ages) or otherwise

    return cell


def number(path: str) -> CellOf:
    """Return a cell function for the number at a dotted path; 0 if it is missing."""
    return at(path, 0)


def flag(path: str, *, otherwise: bool = False) -> CellOf:
    """Return a cell function for the boolean at a dotted path."""
    return at(path, otherwise)


def count(path: str) -> CellOf:
    """Return a cell function for the length of the list at a dotted path."""
    steps = path.split(".")

    def cell(obj: Object, _: Ages) -> int:
        return len(part(obj, *steps))

    return cell


def since(path: str, otherwise: str) -> CellOf:
    """Return a cell function for the time since the timestamp at a dotted path."""
    found = at(path)

    def cell(obj: Object, ages: Ages) -> str:
        moment = found(obj, ages)
        return ages.since(str(moment)) if moment else otherwise

    return cell


def part(obj: Object, *steps: str) -> Any:
    """Return the map or list at the end of some steps; an empty map if it does not exist."""
    found: Any = obj
    for step in steps:
        found = found.get(step) or {}
    return found
