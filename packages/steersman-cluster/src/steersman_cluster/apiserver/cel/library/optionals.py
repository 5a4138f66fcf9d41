"""CEL functions of optional values."""

from collections.abc import Mapping
from typing import Any, Final

from steersman_cluster.apiserver.cel.errors import NotEvaluated
from steersman_cluster.apiserver.cel.values import NONE, Duration, Function, Optional, Timestamp


def _has_value(of: Any) -> bool:
    if not isinstance(of, Optional):
        raise NotEvaluated
    return of.has_value


def _value(of: Any) -> Any:
    if not _has_value(of):
        raise NotEvaluated("optional.none() dereference")
    return of.value


def _non_zero(value: Any) -> Optional:
    is_zero = (
        value.nanoseconds == 0
        if isinstance(value, Duration)
        else not isinstance(value, Timestamp) and not value
    )
    return NONE if is_zero else Optional(value)


def _unwrapped(values: list[Any]) -> list[Any]:
    if not all(isinstance(each, Optional) for each in values):
        raise NotEvaluated("no such overload: optional.unwrap")
    return [each.value for each in values if each.has_value]


IMPLEMENTATIONS: Final[Mapping[str, Function]] = {
    "hasValue": _has_value,
    "optional.none": lambda: NONE,
    "optional.of": Optional,
    "optional.ofNonZeroValue": _non_zero,
    "optional.unwrap": _unwrapped,
    "unwrapOpt": _unwrapped,
    "value": _value,
}
