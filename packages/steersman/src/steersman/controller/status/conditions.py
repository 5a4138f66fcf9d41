"""What is made of a status before it is applied. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeAlias, TypeVar, get_args

import msgspec

from steersman.errors import BadValue
from steersman.kinds import Condition, Part, Resource, Unstructured, replace
from steersman.units import format_time, parse_time

S = TypeVar("S", bound=Part | Mapping[str, Any])


# The status of each condition, and since when it has had that.
_Known: TypeAlias = Mapping[str, tuple[str, datetime]]


def status_to_apply(
    obj: Resource | Unstructured,
    status: S,
    *,
    now: datetime,
    before: Resource | Unstructured | None = None,
) -> S:
    """``status``, said of ``obj`` as it was looked at.

    It gets the object's generation as ``observed_generation``, if it has such a field (a mapping:
    if the key is there). A condition that comes without a time gets the one that it has had since
    it last flipped: that on ``before``, which is ``obj`` as it is known now, or ``now``. Times are
    to the second.
    """
    known = _conditions_of(obj if before is None else before)
    part: Any = status
    # Not whether it is a Mapping: what an abstract class is asked about costs more than the rest.
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


def fields_of_status(kind: type[Any]) -> tuple[str, ...]:
    """What the status of a kind has, as far as its class says: nothing, of an ``Unstructured``."""
    if not issubclass(kind, Unstructured):
        for field in msgspec.structs.fields(kind):
            if field.name == "status":
                for each in get_args(field.type) or (field.type,):
                    found: tuple[str, ...] = getattr(each, "__struct_fields__", ())
                    if found:
                        return found
    return ()


def has_said(obj: Resource | Unstructured, status: Mapping[str, Any], condition: Condition) -> bool:
    """Whether a status says this of the object as it is."""
    if status.get("observedGeneration", obj.generation) != obj.generation:
        return False
    said = _said_of(condition)
    return any(
        isinstance(each, Mapping) and {name: each.get(name) for name in said} == said
        for each in _list_in(status)
    )


def is_progress(
    obj: Resource | Unstructured,
    status: Part | Mapping[str, Any],
    *,
    before: Resource | Unstructured,
) -> bool:
    """Whether nobody is misled who reads on ``before`` how things stood, instead of ``status``.

    As long as nothing is said there at all; or it was said of the generation that ``obj`` has, and
    the same of each condition that ``status`` tells.
    """
    said: Any = before.get("status") if isinstance(before, Unstructured) else _status_of(before)
    if not said or not msgspec.to_builtins(said, enc_hook=str):
        return True
    observed = _field(said, "observed_generation", "observedGeneration")
    if observed is not None and observed != obj.generation:
        return False
    known = _verdicts(said)
    return all(known.get(type_) == verdict for type_, verdict in _verdicts(status).items())


def _status_of(obj: Any) -> Any:
    return getattr(obj, "status", None)


def _field(status: Any, name: str, name_on_the_wire: str) -> Any:
    if isinstance(status, Mapping):
        return status.get(name_on_the_wire)
    return getattr(status, name, None)


def _verdicts(status: Any) -> Mapping[str, str]:
    """What is said of each condition."""
    found: dict[str, str] = {}
    conditions = _field(status, "conditions", "conditions")
    for each in conditions if isinstance(conditions, (list, tuple)) else ():
        # Of an object without a class, anything may stand there.
        found[str(_field(each, "type", "type"))] = str(_field(each, "status", "status"))
    return found


def with_condition(
    obj: Resource | Unstructured, status: Mapping[str, Any], condition: Condition
) -> Mapping[str, Any]:
    """A status of the object that says this as well, in the place of what it said of that type."""
    said = _said_of(condition)
    conditions = [*_list_in(status)]
    types = [each.get("type") if isinstance(each, Mapping) else None for each in conditions]
    if condition.type in types:
        conditions[types.index(condition.type)] = said
    else:
        conditions.append(said)
    changed = {**status, "conditions": conditions}
    if "observed_generation" in fields_of_status(type(obj)):
        changed["observedGeneration"] = obj.generation
    return changed


def _said_of(condition: Condition) -> Mapping[str, str | None]:
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
    }


def _list_in(status: Mapping[str, Any]) -> list[Any]:
    # Of an object without a class, anything may stand there.
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
                continue  # Nobody need have written a moment there.
            known[str(each.get("type"))] = str(each.get("status")), since
    return known
