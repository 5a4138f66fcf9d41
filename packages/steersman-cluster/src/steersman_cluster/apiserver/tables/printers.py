"""The parts of a table printer: columns, and the functions that compute their cells."""

from collections.abc import Callable
from typing import Any, TypeAlias

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.table_columns import Cell, CellOf, Printer, TableColumn

# A column, and the function of its cells.
ColumnCell: TypeAlias = tuple[TableColumn, CellOf]


def column(name: str, cell: CellOf, type_: str = "string", format_: str = "") -> ColumnCell:
    """Return a column that is always shown, with the cell function ``cell``."""
    return TableColumn(name=name, type=type_, format=format_), cell


def wide_column(name: str, cell: CellOf) -> ColumnCell:
    """Return a column that is shown only in wide output, with the cell function ``cell``."""
    return TableColumn(name=name, priority=1), cell


def name_column(cell: CellOf | None = None) -> ColumnCell:
    """Return the column ``Name``; its cell function is ``cell``, by default ``name_of``."""
    return column("Name", name_of if cell is None else cell, format_="name")


def age_column() -> ColumnCell:
    """Return the column ``Age``."""
    return column("Age", age_of)


def printer(*columns: ColumnCell, order: Callable[[Object], Any] | None = None) -> Printer:
    """Return a printer whose columns each have their own cell function.

    ``order`` is the sort key of objects in a list; without it, they stay as they are.
    """
    functions = tuple(cell for _, cell in columns)

    def cells(obj: Object, ages: Ages) -> list[Cell]:
        return [cell(obj, ages) for cell in functions]

    return Printer(columns=tuple(column for column, _ in columns), cells=cells, order=order)


def name_of(obj: Object, _: Ages) -> str:
    """Return the object's name; empty for the object of a bookmark event."""
    return str(obj["metadata"].get("name", ""))


def age_of(obj: Object, ages: Ages) -> str:
    """Return the object's age as text."""
    return ages.since(obj["metadata"].get("creationTimestamp"))


def at(path: str, otherwise: Cell = "") -> CellOf:
    """Return a cell function for the value at the dotted path ``path``.

    If the value is missing, the cell is ``otherwise``.
    """
    *way, last = path.split(".")

    def cell(obj: Object, _: Ages) -> Cell:
        for step in way:
            obj = obj.get(step) or {}
        found: Cell = obj.get(last)
        return otherwise if found is None else found

    return cell


def filled(path: str, otherwise: str) -> CellOf:
    """Return a cell function for the value at the dotted path ``path``.

    If the value is missing or empty, the cell is ``otherwise``.
    """
    found = at(path)

    def cell(obj: Object, ages: Ages) -> Cell:
        return found(obj, ages) or otherwise

    return cell


def number(path: str) -> CellOf:
    """Return a cell function for the number at the dotted path ``path``; 0 if it is missing."""
    return at(path, 0)


def flag(path: str, *, otherwise: bool = False) -> CellOf:
    """Return a cell function for the boolean at the dotted path ``path``.

    If the boolean is missing, the cell is ``otherwise``.
    """
    return at(path, otherwise)


def count(path: str) -> CellOf:
    """Return a cell function for the length of the list at the dotted path ``path``."""
    steps = path.split(".")

    def cell(obj: Object, _: Ages) -> int:
        return len(part(obj, *steps))

    return cell


def since(path: str, otherwise: str) -> CellOf:
    """Return a cell function for the time since the timestamp at the dotted path ``path``.

    If the timestamp is missing, the cell is ``otherwise``.
    """
    found = at(path)

    def cell(obj: Object, ages: Ages) -> str:
        moment = found(obj, ages)
        return ages.since(str(moment)) if moment else otherwise

    return cell


def part(obj: Object, *steps: str) -> Any:
    """Return the map or list to which ``steps``, the keys of a path, lead from ``obj``.

    The result is an empty map if there is no such map or list.
    """
    found: Any = obj
    for step in steps:
        found = found.get(step) or {}
    return found
