"""Kubernetes quantities: ``quantity('1Gi')``."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Final

from steersman.units import Quantity
from steersman_cluster.apiserver.cel.errors import NotEvaluated
from steersman_cluster.apiserver.cel.library.semantic_versions import Version
from steersman_cluster.apiserver.cel.values import MAX_INT, MIN_INT, Function
from steersman_cluster.apiserver.schema.scalars import BadScalar, quantity


@dataclass(frozen=True, slots=True)
class Amount:
    cel_name: ClassVar[str] = "kubernetes.Quantity"
    quantity: Quantity


def _read(text: str) -> Amount:
    try:
        quantity(text)
    except BadScalar as error:
        raise NotEvaluated(str(error)) from None
    return Amount(Quantity(text))


def _is_quantity(text: str) -> bool:
    try:
        quantity(text)
    except BadScalar:
        return False
    return True


def _whole(of: Amount) -> int | None:
    value = of.quantity.value
    if value != value.to_integral_value() or not MIN_INT <= value <= MAX_INT:
        return None
    return int(value)


def _as_integer(of: Amount) -> int:
    found = _whole(of)
    if found is None:
        raise NotEvaluated("cannot convert value to integer")
    return found


def _other(value: Any) -> Quantity:
    return Quantity(Decimal(value)) if isinstance(value, int) else value.quantity


def compare(first: Any, second: Any) -> int:
    if isinstance(first, Version) and isinstance(second, Version):
        return first.compared(second)
    if not isinstance(first, Amount) or not isinstance(second, Amount):
        raise NotEvaluated
    mine, theirs = first.quantity, second.quantity
    return 0 if mine == theirs else (-1 if mine < theirs else 1)


IMPLEMENTATIONS: Final[Mapping[str, Function]] = {
    "add": lambda first, second: Amount(first.quantity + _other(second)),
    "asApproximateFloat": lambda of: float(of.quantity.value),
    "asInteger": _as_integer,
    "compareTo": compare,
    "isGreaterThan": lambda first, second: compare(first, second) > 0,
    "isInteger": lambda of: _whole(of) is not None,
    "isLessThan": lambda first, second: compare(first, second) < 0,
    "isQuantity": _is_quantity,
    "quantity": _read,
    "sign": lambda of: (of.quantity.value > 0) - (of.quantity.value < 0),
    "sub": lambda first, second: Amount(first.quantity - _other(second)),
}
