"""The text of table cells: how parts of objects are formatted."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from steersman.errors import BadValue
from steersman.units import Quantity
from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.table_columns import CellOf
from steersman_cluster.apiserver.tables.printers import ColumnCell, part, wide_column

NONE, UNSET, UNKNOWN = "<none>", "<unset>", "<unknown>"

_OPERATORS = {"In": "in", "NotIn": "notin"}


def labels_text(labels: Mapping[str, str] | None) -> str:
    """Return ``labels`` as text, sorted by key: ``a=b,c=d``."""
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels)) if labels else NONE


def selector_text(selector: Mapping[str, Any] | None) -> str:
    """Return a label selector as text: ``app=web,tier in (a,b)``.

    The text is empty if the selector is None or selects everything.
    """
    if selector is None:
        return ""
    labels = (selector.get("matchLabels") or {}).items()
    requirements = [(key, f"{key}={value}") for key, value in labels]
    requirements += [
        (each["key"], _expression(each)) for each in selector.get("matchExpressions") or ()
    ]
    return ",".join([text for _, text in sorted(requirements, key=_key)])


def _key(requirement: tuple[str, str]) -> str:
    return requirement[0]


def _expression(requirement: Mapping[str, Any]) -> str:
    key, operator = requirement["key"], requirement["operator"]
    if operator == "Exists":
        return str(key)
    if operator == "DoesNotExist":
        return f"!{key}"
    values = ",".join(sorted(requirement.get("values") or ()))
    return f"{key} {_OPERATORS[operator]} ({values})"


def selected(path: str) -> CellOf:
    """Return a cell function for the label selector at the dotted path ``path``."""
    steps = path.split(".")

    def cell(obj: Object, _: Ages) -> str:
        return selector_text(part(obj, *steps)) or NONE

    return cell


def labeled(path: str) -> CellOf:
    """Return a cell function for the labels at the dotted path ``path``."""
    steps = path.split(".")

    def cell(obj: Object, _: Ages) -> str:
        return labels_text(part(obj, *steps))

    return cell


def joined(path: str, otherwise: str = "") -> CellOf:
    """Return a cell function for the strings in the list at the dotted path ``path``.

    For an empty or missing list, the cell is ``otherwise``.
    """
    steps = path.split(".")

    def cell(obj: Object, _: Ages) -> str:
        return ",".join(part(obj, *steps)) or otherwise

    return cell


def containers(spec: str) -> tuple[ColumnCell, ColumnCell]:
    """Return two columns: the names and the images of the containers in a Pod spec.

    ``spec`` is the dotted path of the Pod spec.
    """
    path = f"{spec}.containers"
    return wide_column("Containers", _each(path, "name")), wide_column(
        "Images", _each(path, "image")
    )


def _each(path: str, field: str) -> CellOf:
    steps = path.split(".")

    def cell(obj: Object, _: Ages) -> str:
        return ",".join([each.get(field, "") for each in part(obj, *steps)])

    return cell


def first_few(texts: Sequence[str], most: int) -> str:
    """Return the first ``most`` of ``texts``, joined, and how many more there are."""
    shown = ",".join(texts[:most])
    return f"{shown} + {len(texts) - most} more..." if len(texts) > most else shown


def amount(text: str | int | None) -> str:
    """Return a quantity in canonical form; "0" for a missing quantity.

    A text that is not a quantity is returned as it is.
    """
    if text is None:
        return "0"
    try:
        return Quantity(text).canonical()
    except BadValue:
        return str(text)


def condition(obj: Object, name: str) -> Object | None:
    """Return the first condition of type ``name`` in the object's status, or None."""
    conditions: Iterable[Object] = part(obj, "status", "conditions")
    return next((each for each in conditions if each.get("type") == name), None)


def is_true(obj: Object, name: str) -> bool:
    """Whether the object's condition of type ``name`` exists and has the status ``True``."""
    found = condition(obj, name)
    return found is not None and found.get("status") == "True"
