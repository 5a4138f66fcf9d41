"""Printers of built-in kinds at a fixed time."""

from datetime import UTC, datetime

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.table_columns import Cell, Printer
from steersman_cluster.apiserver.tables.builtin import builtin_printer

NOW = datetime(2026, 6, 15, 12, 0, 0, tzinfo=UTC)
ABOUT: Object = {"name": "one", "creationTimestamp": "2026-06-15T11:57:00Z"}
AGE = "3m"


def printer_of(resource: str, group: str = "", subresource: str = "") -> Printer:
    """Return the printer of a built-in kind."""
    found = builtin_printer(GroupResource(group, resource), subresource)
    assert found is not None
    return found


def shown(resource: str, obj: Object) -> dict[str, Cell]:
    """Return the cells of an object by column; ``resource`` is for example deployments.apps."""
    plural, _, group = resource.partition(".")
    printer = printer_of(plural, group)
    cells = printer.cells({"metadata": ABOUT, **obj}, Ages(NOW))
    names = [column.name for column in printer.columns]
    return dict(zip(names, cells, strict=False))
