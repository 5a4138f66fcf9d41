"""The status of an object in the form that is applied. No I/O: ``Writer.apply_status`` sends it.

This module sets ``observedGeneration`` and the transition times of conditions. A condition gets the
current time if its ``status`` field has changed, and otherwise keeps its time. If the operator
author sets a transition time, that time is used, in whole seconds.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeAlias, TypeVar, get_args

import msgspec

from steersman.errors import BadValue
from steersman.kinds import Condition, Part, Resource, Unstructured, replace
from steersman.units import format_time, parse_time

S = TypeVar("S", bound=Part | Mapping[str, Any])


# By type of condition: its status, and the time of its last transition.
_Known: TypeAlias = Mapping[str, tuple[str, datetime]]


def status_to_apply(
    obj: Resource | Unstructured,
    status: S,
    *,
    now: datetime,
    before: Resource | Unstructured | None = None,
) -> S:
    """Return ``status`` as it is to be applied to ``obj``, the object that was reconciled.

    If the status has a field ``observed_generation`` (for a mapping: if it contains the key), the
    field is set to the generation of ``obj``. ``before`` is the cached object. A condition without
    a transition time gets the time that it has in ``before``, if its ``status`` field is the same
    there, and otherwise ``now``. Times have whole seconds.
    """
    known = _conditions_of(obj if before is None else before)
    part: Any = status
    # isinstance(part, Mapping) would cost more than the rest of this function: Mapping is abstract.
    fields: tuple[str, ...] | None = getattr(part, "__struct_fields__", None)
    if fields is None:
        return _mapping_to_apply(obj, part, known, now)  # type: ignore[return-value]
    changes: dict[str, Any] = {}
    if "observed_generation" in fields:
        changes["observed_generation"] = obj.generation or None
    conditions = getattr(status, "conditions", None)
    if conditions:
        changes["conditions"] = tuple(
            [
                _with_time(each, known, now) if isinstance(each, Condition) else each
                for each in conditions
            ]
        )
    return replace(part, **changes) if changes else status


def status_fields(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the fields of the status of ``kind``; ``()`` for an ``Unstructured``."""
    if not issubclass(kind, Unstructured):
        for field in msgspec.structs.fields(kind):
            if field.name == "status":
                for each in get_args(field.type) or (field.type,):
                    found: tuple[str, ...] = getattr(each, "__struct_fields__", ())
                    if found:
                        return found
    return ()


def has_condition(
    obj: Resource | Unstructured, status: Mapping[str, Any], condition: Condition
) -> bool:
    """Return whether ``status`` contains ``condition``, for the current generation of ``obj``."""
    if status.get("observedGeneration", obj.generation) != obj.generation:
        return False
    wanted = _condition_fields(condition)
    return any(
        isinstance(each, Mapping) and {name: each.get(name) for name in wanted} == wanted
        for each in _conditions_in(status)
    )


def is_progress(
    obj: Resource | Unstructured,
    status: Part | Mapping[str, Any],
    *,
    before: Resource | Unstructured,
) -> bool:
    """Return whether ``status``, compared with the status of ``before``, only shows progress.

    Writing such a status can wait. The result is true if ``before`` has no status. It is also true
    if the status of ``before`` is for the generation of ``obj``, and each condition in ``status``
    has the same ``status`` field as in ``before``.
    """
    old: Any = before.get("status") if isinstance(before, Unstructured) else _status_of(before)
    if not old or not msgspec.to_builtins(old, enc_hook=str):
        return True
    observed = _field(old, "observed_generation", "observedGeneration")
    if observed is not None and observed != obj.generation:
        return False
    known = _condition_statuses(old)
    return all(known.get(type_) == value for type_, value in _condition_statuses(status).items())


def _status_of(obj: Any) -> Any:
    return getattr(obj, "status", None)


def _field(status: Any, name: str, name_on_the_wire: str) -> Any:
    if isinstance(status, Mapping):
        return status.get(name_on_the_wire)
    return getattr(status, name, None)


def _condition_statuses(status: Any) -> Mapping[str, str]:
    """Return the status of each condition, by type."""
    found: dict[str, str] = {}
    conditions = _field(status, "conditions", "conditions")
    for each in conditions if isinstance(conditions, (list, tuple)) else ():
        # In an unstructured object, the value may have any type.
        found[str(_field(each, "type", "type"))] = str(_field(each, "status", "status"))
    return found


def with_condition(
    obj: Resource | Unstructured, status: Mapping[str, Any], condition: Condition
) -> Mapping[str, Any]:
    """Return a copy of ``status`` with ``condition`` in place of a condition of the same type."""
    wanted = _condition_fields(condition)
    conditions = [*_conditions_in(status)]
    types = [each.get("type") if isinstance(each, Mapping) else None for each in conditions]
    if condition.type in types:
        conditions[types.index(condition.type)] = wanted
    else:
        conditions.append(wanted)
    changed = {**status, "conditions": conditions}
    if "observed_generation" in status_fields(type(obj)):
        changed["observedGeneration"] = obj.generation
    return changed


def _condition_fields(condition: Condition) -> Mapping[str, str | None]:
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
    }


def _conditions_in(status: Mapping[str, Any]) -> list[Any]:
    # In an unstructured object, the value may have any type.
    conditions = status.get("conditions")
    return conditions if isinstance(conditions, list) else []


def _with_time(condition: Condition, known: _Known, now: datetime) -> Condition:
    given = condition.last_transition_time
    if given is None:
        since = _since(condition.type, condition.status, known, now)
    elif given.microsecond:
        since = given.replace(microsecond=0)
    else:
        return condition
    return replace(condition, last_transition_time=since)


def _since(type_: object, status: object, known: _Known, now: datetime) -> datetime:
    before = known.get(str(type_))
    if before is not None and before[0] == status:
        return before[1]
    return now.replace(microsecond=0)


def _mapping_to_apply(
    obj: Resource | Unstructured,
    status: Mapping[str, Any],
    known: _Known,
    now: datetime,
) -> Mapping[str, Any]:
    changed = dict(status)
    if "observedGeneration" in changed:
        changed["observedGeneration"] = obj.generation
    conditions = changed.get("conditions")
    if isinstance(conditions, (list, tuple)):
        changed["conditions"] = [_condition_to_apply(each, known, now) for each in conditions]
    return changed


def _condition_to_apply(condition: Any, known: _Known, now: datetime) -> Any:
    if isinstance(condition, Condition):
        return _with_time(condition, known, now)
    if not isinstance(condition, Mapping) or condition.get("lastTransitionTime"):
        return condition
    since = _since(condition.get("type"), condition.get("status"), known, now)
    return {**condition, "lastTransitionTime": format_time(since)}


def _conditions_of(obj: Resource | Unstructured) -> _Known:
    if isinstance(obj, Unstructured):
        found = obj.get("status", "conditions") or ()
    else:
        found = getattr(getattr(obj, "status", None), "conditions", None) or ()
    known: dict[str, tuple[str, datetime]] = {}
    for each in found:
        if isinstance(each, Condition):
            if each.last_transition_time is not None:
                known[each.type] = each.status, each.last_transition_time
        elif isinstance(each, Mapping) and each.get("lastTransitionTime"):
            try:
                since = parse_time(each["lastTransitionTime"])
            except BadValue:
                continue  # invalid time
            known[str(each.get("type"))] = str(each.get("status")), since
    return known
