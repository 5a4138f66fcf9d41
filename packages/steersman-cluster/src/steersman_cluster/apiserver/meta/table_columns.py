"""The columns of a table, and the function that returns the cells of an object."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.strategy import Object

Cell: TypeAlias = str | int | float | bool | None

# Returns the value of one cell.
CellOf: TypeAlias = Callable[[Object, Ages], Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """A column of a table; clients show a column with ``priority`` 0 even in narrow output."""

    name: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0

    def definition(self) -> dict[str, Any]:
        """Return the column definition for a Table."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Printer:
    """The columns of a kind's tables, and the function that returns the cells of a row."""

    columns: Sequence[TableColumn]
    cells: Callable[[Object, Ages], Sequence[Cell]]
    # The conditions of the row, for example Completed.
    conditions: Callable[[Object], Sequence[Object]] | None = None
    # The sort key of the rows; None: the order of the list.
    order: Callable[[Object], Any] | None = None
    # Whether a table without rows has null instead of an empty list, as kube-apiserver's default
    # table convertor writes it.
    empty_is_null: bool = False
