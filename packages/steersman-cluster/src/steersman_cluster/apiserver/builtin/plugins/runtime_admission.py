"""The admission plugin RuntimeClass: the overhead and the scheduling of a runtime."""

from typing import Final

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.status_errors import StatusError, forbidden
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext

_PODS: Final = GroupResource("", "pods")
_CLASSES: Final = GroupResource("node.k8s.io", "runtimeclasses")
_OTHER_OVERHEAD: Final = "Pod's Overhead doesn't match RuntimeClass's defined Overhead"


def set_runtime(pod: Object, around: StrategyContext) -> None:
    """Set the overhead, node selector and tolerations of the RuntimeClass on ``pod``."""
    spec = pod["spec"]
    if not (class_name := spec.get("runtimeClassName")):
        return
    found = around.find(_CLASSES, "", class_name)
    if found is None:
        raise _rejected(pod, f'RuntimeClass "{class_name}" not found')
    if overhead := (found.get("overhead") or {}).get("podFixed"):
        if spec.get("overhead") and spec["overhead"] != overhead:
            raise _rejected(pod, _OTHER_OVERHEAD)
        spec["overhead"] = {**overhead}
    if (scheduling := found.get("scheduling")) is not None:
        _set_scheduling(pod, scheduling)


def validate_overhead(pod: Object, around: StrategyContext) -> None:
    """Reject a Pod whose overhead differs from the one in its RuntimeClass."""
    spec = pod["spec"]
    class_name = spec.get("runtimeClassName")
    found = around.find(_CLASSES, "", class_name) if class_name else None
    overhead = ((found or {}).get("overhead") or {}).get("podFixed")
    if overhead is None:
        why = "Pod Overhead set without corresponding RuntimeClass defined Overhead"
        raise _rejected(pod, why)
    if overhead != spec["overhead"]:
        raise _rejected(pod, _OTHER_OVERHEAD)


def _rejected(pod: Object, why: str) -> StatusError:
    return forbidden(_PODS, pod["metadata"].get("name", ""), f"pod rejected: {why}")


def _set_scheduling(pod: Object, scheduling: Object) -> None:
    spec = pod["spec"]
    selector = spec.get("nodeSelector") or {}
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if selector.get(key, value) != value:
            why = (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value};"
                f" pod.spec.nodeSelector[{key}] = {selector[key]}"
            )
            raise forbidden(_PODS, pod["metadata"].get("name", ""), why)
        selector = {**selector, key: value}
    if selector:
        spec["nodeSelector"] = selector
    merged = _merged([*(spec.get("tolerations") or ()), *(scheduling.get("tolerations") or ())])
    if merged:
        spec["tolerations"] = merged


def _merged(tolerations: list[Object]) -> list[Object]:
    """Return ``tolerations`` without each toleration that another toleration includes.

    Of two equal tolerations, the first is kept.
    """
    kept: list[Object] = []
    for index, each in enumerate(tolerations):
        later = (other for other in tolerations[index + 1 :] if other != each)
        if not any(_includes(other, each) for other in (*kept, *later)):
            kept.append(each)
    return kept


def _includes(wide: Object, narrow: Object) -> bool:
    if wide == narrow:
        return True
    key, operator, effect = (wide.get(each, "") for each in ("key", "operator", "effect"))
    if narrow.get("key", "") != key and (key or operator != "Exists"):
        return False
    if effect and narrow.get("effect", "") != effect:
        return False
    longest = wide.get("tolerationSeconds")
    if effect == "NoExecute" and longest is not None:
        seconds = narrow.get("tolerationSeconds")
        if seconds is None or seconds > longest:
            return False
    if operator in ("Equal", ""):
        is_equal = narrow.get("operator") == "Equal"
        return is_equal and bool(narrow.get("value", "") == wide.get("value", ""))
    return bool(operator == "Exists")
