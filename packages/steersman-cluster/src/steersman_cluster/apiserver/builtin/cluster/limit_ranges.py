"""LimitRanges: their defaults and their validation."""

from collections.abc import Iterator, Mapping
from typing import Final

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin.pods.resource_amounts import (
    container_resource_errors,
    may_be_overcommitted,
    resource_name_errors,
)
from steersman_cluster.apiserver.meta import object_meta
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import label_key, subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

_TYPES: Final = ("Pod", "Container", "PersistentVolumeClaim")
_ONE: Final = Quantity(1)


def _default(limit_range: Object) -> None:
    """Default the limits and the requests of containers in ``limit_range``.

    The limits default to the maximum. The requests default to the limits, or to the minimum if
    there is no limit. Explicit values in ``default`` and ``defaultRequest`` take precedence.
    """
    for item in limit_range.get("spec", {}).get("limits") or ():
        if item.get("type") == "Container":
            limits = {**item.get("max", {}), **item.get("default", {})}
            requests = {**item.get("min", {}), **limits, **item.get("defaultRequest", {})}
            for field, value in (("default", limits), ("defaultRequest", requests)):
                if value:
                    item[field] = value


def _prepare_create(limit_range: Object, around: StrategyContext) -> None:
    if not limit_range["metadata"].get("name"):
        limit_range["metadata"]["name"] = object_meta.new_uid(around.rng)


def _errors(limit_range: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    types: set[str] = set()
    for index, item in enumerate((limit_range.get("spec") or {}).get("limits") or ()):
        path, kind = f"spec.limits[{index}]", item.get("type", "")
        wrong = all_invalid(f"{path}.type", kind, label_key(kind))
        if not wrong and "/" not in kind and kind not in _TYPES:
            why = "must be a standard limit type or fully qualified"
            wrong.append(invalid(f"{path}.type", kind, why))
        errors += wrong
        if kind in types:
            errors.append(duplicate(f"{path}.type", kind))
        types.add(kind)
        errors += _name_errors(item, kind, path)
        amounts = _amounts(item, kind)
        for name in dict.fromkeys(each for part in amounts.values() for each in part):
            found = {part: each[name] for part, each in amounts.items() if name in each}
            errors += _relation_errors(name, found, path)
    return errors


def _parts(kind: str) -> tuple[str, ...]:
    rest = () if kind == "Pod" else ("default", "defaultRequest")
    return ("max", "min", *rest, "maxLimitRequestRatio")


def _name_errors(item: Object, kind: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    check = container_resource_errors if kind in ("Pod", "Container") else resource_name_errors
    for part in _parts(kind):
        if part == "maxLimitRequestRatio":
            errors += _kind_errors(item, kind, path)
        for name in item.get(part) or ():
            errors += check(name, f"{path}.{part}[{name}]")
    return errors


def _kind_errors(item: Object, kind: str, path: str) -> list[FieldError]:
    if kind == "Pod":
        why = "may not be specified when `type` is 'Pod'"
        parts = ("default", "defaultRequest")
        return [forbidden(f"{path}.{part}", why) for part in parts if item.get(part)]
    sized = any("storage" in (item.get(part) or {}) for part in ("min", "max"))
    if kind == "PersistentVolumeClaim" and not sized:
        why = "either minimum or maximum storage value is required, but neither was provided"
        return [required(f"{path}.limits", why)]
    return []


def _amounts(item: Object, kind: str) -> dict[str, dict[str, str]]:
    return {part: item.get(part) or {} for part in _parts(kind)}


# (low, high, field, value, message): the error if low exceeds high.
_ORDER: Final = (
    ("min", "max", "min", "min", "min value {} is greater than max value {}"),
    (
        "min",
        "defaultRequest",
        "defaultRequest",
        "defaultRequest",
        "min value {} is greater than default request value {}",
    ),
    (
        "defaultRequest",
        "max",
        "defaultRequest",
        "defaultRequest",
        "default request value {} is greater than max value {}",
    ),
    (
        "defaultRequest",
        "default",
        "defaultRequest",
        "defaultRequest",
        "default request value {} is greater than default limit value {}",
    ),
    ("min", "default", "default", "min", "min value {} is greater than default value {}"),
    ("default", "max", "default", "max", "default value {} is greater than max value {}"),
)


def _relation_errors(name: str, found: Mapping[str, str], path: str) -> Iterator[FieldError]:
    for low, high, where, shown, why in _ORDER:
        if low in found and high in found and Quantity(found[low]) > Quantity(found[high]):
            why = why.format(found[low], found[high])
            yield invalid(f"{path}.{where}[{name}]", found[shown], why)
    if (ratio := found.get("maxLimitRequestRatio")) is not None:
        at = f"{path}.maxLimitRequestRatio[{name}]"
        if Quantity(ratio) < _ONE:
            yield invalid(at, ratio, f"ratio {ratio} is less than 1")
        if "min" in found and "max" in found:
            most = _ratio(found["max"], found["min"])
            if Quantity(ratio).milli_value() / 1000 > most:
                shown = "+Inf" if most == float("inf") else f"{most:f}"
                yield invalid(at, ratio, f"ratio {ratio} is greater than max/min = {shown}")
    usual, asked = found.get("default"), found.get("defaultRequest")
    if usual is None or asked is None or may_be_overcommitted(name):
        return
    if Quantity(usual) != Quantity(asked):
        why = f"default value {usual} must equal to defaultRequest value {asked} in {name}"
        yield invalid(f"{path}.defaultRequest[{name}]", asked, why)


def _ratio(most: str, least: str) -> float:
    above, below = Quantity(most).milli_value(), Quantity(least).milli_value()
    return above / below if below else float("inf")


LIMIT_RANGE = Strategy(
    default=_default,
    prepare_create=_prepare_create,
    validate=_errors,
    name_errors=subdomain_name,
    allow_create_on_update=True,
)
