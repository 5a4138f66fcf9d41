"""What tables are made of: columns, and printers, which know the columns and cells of a kind."""

from collections.abc import Callable
from typing import Any, TypeAlias

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.meta.table_columns import Cell, CellOf, Column, Printer

# A column, and the function of its cells.
ColumnCell: TypeAlias = tuple[Column, CellOf]


def column(name: str, cell: CellOf, type_: str = "string", format_: str = "") -> ColumnCell:
    """A column that is always shown."""
    return Column(name=name, type=type_, format=format_), cell


def wide_column(name: str, cell: CellOf) -> ColumnCell:
    """A column that is shown to those who want more."""
    return Column(name=name, priority=1), cell


def name_column(cell: CellOf | None = None) -> ColumnCell:
    """The name of the object."""
    return column("Name", name_of if cell is None else cell, format_="name")


def age_column() -> ColumnCell:
    """How long the object has been there."""
    return column("Age", age_of)


def printer(*columns: ColumnCell, order: Callable[[Object], Any] | None = None) -> Printer:
    """A printer of columns that stand for themselves."""
    functions = tuple(cell for _, cell in columns)

    def cells(obj: Object, ages: Ages) -> list[Cell]:
        return [cell(obj, ages) for cell in functions]

    return Printer(columns=tuple(column for column, _ in columns), cells=cells, order=order)


def name_of(obj: Object, _: Ages) -> str:
    """The object's name; a bookmark has none."""
    return str(obj["metadata"].get("name", ""))


def age_of(obj: Object, ages: Ages) -> str:
    """How long the object has been there."""
    return ages.since(obj["metadata"].get("creationTimestamp"))


def at(path: str, otherwise: Cell = "") -> CellOf:
    """What stands at a dotted path, or what is said where there is nothing."""
    *way, last = path.split(".")

    def cell(obj: Object, _: Ages) -> Cell:
        for step in way:
            obj = obj.get(step) or {}
        found: Cell = obj.get(last)
        return otherwise if found is None else found

    return cell


def filled(path: str, otherwise: str) -> CellOf:
    """The same, where an empty text is nothing too."""
    found = at(path)

    def cell(obj: Object, ages: Ages) -> Cell:
        return found(obj, ages) or otherwise

    return cell


def number(path: str) -> CellOf:
    """The number at a dotted path; what is not there is none."""
    return at(path, 0)


def flag(path: str, *, otherwise: bool = False) -> CellOf:
    """The yes or no at a dotted path."""
    return at(path, otherwise)


def count(path: str) -> CellOf:
    """How many there are at a dotted path."""
    steps = path.split(".")

    def cell(obj: Object, _: Ages) -> int:
        return len(part(obj, *steps))

    return cell


def since(path: str, otherwise: str) -> CellOf:
    """How long ago the moment at a dotted path was."""
    found = at(path)

    def cell(obj: Object, ages: Ages) -> str:
        moment = found(obj, ages)
        return ages.since(str(moment)) if moment else otherwise

    return cell


def part(obj: Object, *steps: str) -> Any:
    """The map or list that is reached by some steps; an empty one where there is nothing."""
    found: Any = obj
    for step in steps:
        found = found.get(step) or {}
    return found
