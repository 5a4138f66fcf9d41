"""The state of an object in brief: a word for its readiness, and a detail from its status."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from steersman.kinds import Unstructured, is_ready

Word: TypeAlias = Literal["ready", "not ready", "failed", "ending", "–"]

# The conditions by which kinds report that they are ready, in order of precedence.
READY_TYPES: Final = ("Ready", "Available")

# A Pod with one of these reasons does not progress.
_BAD_REASONS: Final = frozenset(
    {"CrashLoopBackOff", "ErrImagePull", "ImagePullBackOff", "CreateContainerConfigError"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectState:
    """The state of an object: its readiness as one ``word``, and a ``detail`` from its status.

    ``conditions`` lists the conditions of the object that ``word`` and ``detail`` do not cover.
    """

    word: Word
    detail: str = ""
    conditions: str = ""

    def __str__(self) -> str:
        return f"{self.word}, {self.detail}" if self.detail else self.word


def state_of(obj: Unstructured) -> ObjectState:
    """Return the state of ``obj``, according to its status and its deletion timestamp."""
    if obj.deletion_time is not None:
        held = ", ".join(map(str, obj.metadata.get("finalizers") or ()))
        return ObjectState(word="ending", detail=f"held by {held}" if held else "")
    conditions = _conditions(obj)
    word = _word(obj, conditions)
    tell = _DETAILS.get(obj.gvk.kind)
    detail = tell(obj) if tell is not None else _reason(conditions)
    return ObjectState(
        word=word, detail=detail, conditions=_others(conditions) if tell is None else ""
    )


def _word(obj: Unstructured, conditions: Mapping[str, Mapping[str, Any]]) -> Word:
    if _has_failed(obj):
        return "failed"
    if is_ready(obj):
        return "ready"
    # A kind that does not report readiness is not shown as unready.
    says = any(each in conditions for each in READY_TYPES)
    return "not ready" if says or obj.gvk.kind in _DETAILS else "–"


def _has_failed(obj: Unstructured) -> bool:
    if obj.gvk.kind == "Pod":
        return obj.get("status", "phase") == "Failed" or _pod(obj) in _BAD_REASONS
    return obj.gvk.kind == "Job" and any(
        (each.get("type"), each.get("status")) == ("Failed", "True")
        for each in obj.get("status", "conditions") or ()
    )


def _conditions(obj: Unstructured) -> dict[str, Mapping[str, Any]]:
    found = obj.get("status", "conditions") or ()
    return {str(each.get("type")): each for each in found if isinstance(each, Mapping)}


def _reason(conditions: Mapping[str, Mapping[str, Any]]) -> str:
    for type_ in READY_TYPES:
        if type_ in conditions:
            return str(conditions[type_].get("reason") or "")
    return ""


def _others(conditions: Mapping[str, Mapping[str, Any]]) -> str:
    main = next((each for each in READY_TYPES if each in conditions), None)
    shown = (_condition(name, conditions[name]) for name in sorted(conditions) if name != main)
    return ", ".join(shown)


def _condition(name: str, condition: Mapping[str, Any]) -> str:
    match condition.get("status"):
        case "True":
            return name
        case "False":
            return f"not {name}"
        case _:
            return f"{name}?"


# The statuses of built-in kinds that report more than conditions.


def _replicas(obj: Unstructured) -> str:
    wanted = obj.get("spec", "replicas", default=1)
    return f"{obj.get('status', 'readyReplicas') or 0} of {wanted}"


def _daemons(obj: Unstructured) -> str:
    ready = obj.get("status", "numberReady") or 0
    return f"{ready} of {obj.get('status', 'desiredNumberScheduled') or 0}"


def _job(obj: Unstructured) -> str:
    wanted = obj.get("spec", "completions", default=1)
    return f"{obj.get('status', 'succeeded') or 0} of {wanted} done"


def _pod(obj: Unstructured) -> str:
    return next(_waiting(obj), None) or str(obj.get("status", "phase") or "Pending")


def _waiting(obj: Unstructured) -> Iterator[str]:
    for each in obj.get("status", "containerStatuses") or ():
        state = each.get("state") or {}
        for which in ("waiting", "terminated"):
            if reason := (state.get(which) or {}).get("reason"):
                yield str(reason)


_DETAILS: Final[Mapping[str, Callable[[Unstructured], str]]] = {
    "DaemonSet": _daemons,
    "Deployment": _replicas,
    "Job": _job,
    "Pod": _pod,
    "ReplicaSet": _replicas,
    "StatefulSet": _replicas,
}
