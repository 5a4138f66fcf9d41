"""The admission plugin LimitRanger for Pods and PersistentVolumeClaims.

It sets the default requests and limits of a LimitRange, and rejects objects that violate one.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from steersman.names import GroupResource
from steersman.units import Quantity
from steersman_cluster.apiserver.builtin.pods.resource_amounts import aggregated
from steersman_cluster.apiserver.meta.status_errors import forbidden
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext

LIMIT_RANGES: Final = GroupResource("", "limitranges")
_ANNOTATION: Final = "kubernetes.io/limit-ranger"
_KINDS: Final = (("containers", "container"), ("initContainers", "init container"))
_OF_POD: Final = ("cpu", "memory")

Amounts = Mapping[str, Quantity]


def limit_pod(pod: Object, around: StrategyContext) -> None:
    """Set the default requests and limits from LimitRanges on the containers of ``pod``."""
    for limit_range in around.every(LIMIT_RANGES, namespace=pod["metadata"].get("namespace", "")):
        requests, limits = _usual(limit_range)
        said: list[str] = []
        for kind, called in _KINDS:
            for container in pod["spec"].get(kind) or ():
                said += _filled(container, "requests", requests, f"request for {called}")
                said += _filled(container, "limits", limits, f"limit for {called}")
        if said:
            annotations = pod["metadata"].get("annotations") or {}
            what = f"LimitRanger plugin set: {'; '.join(said)}"
            pod["metadata"]["annotations"] = {**annotations, _ANNOTATION: what}


def _items(limit_range: Object, kind: str) -> Iterator[Object]:
    for item in (limit_range.get("spec") or {}).get("limits") or ():
        if item.get("type") == kind:
            yield item


def _usual(limit_range: Object) -> tuple[dict[str, str], dict[str, str]]:
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    for item in _items(limit_range, "Container"):
        requests |= item.get("defaultRequest") or {}
        limits |= item.get("default") or {}
    return requests, limits


def _filled(container: Object, part: str, usual: Mapping[str, str], what: str) -> Iterator[str]:
    resources = container.setdefault("resources", {})
    missing = sorted(usual.keys() - (resources.get(part) or {}).keys())
    if missing:
        given = {name: usual[name] for name in missing}
        resources[part] = {**(resources.get(part) or {}), **given}
        yield f"{', '.join(missing)} {what} {container.get('name', '')}"


def validate_pod_limits(pod: Object, around: StrategyContext) -> None:
    """Reject a Pod that requests more, or less, than a LimitRange permits."""
    about, spec = pod["metadata"], pod["spec"]
    for limit_range in around.every(LIMIT_RANGES, namespace=about.get("namespace", "")):
        wrong: list[str] = []
        for item in (limit_range.get("spec") or {}).get("limits") or ():
            if item.get("type") == "Container":
                for kind, _ in _KINDS:
                    for container in spec.get(kind) or ():
                        resources = container.get("resources") or {}
                        asked, most = (_read(resources.get(each)) for each in _PARTS)
                        wrong += _violations(item, asked, most)
            elif item.get("type") == "Pod":
                asked, most = (_whole(spec, each) for each in _PARTS)
                wrong += _violations(item, asked, most)
        _raise_if_any(wrong, "pods", about["name"])


_PARTS: Final = ("requests", "limits")


def _read(amounts: Mapping[str, str] | None) -> Amounts:
    return {name: Quantity(amount) for name, amount in (amounts or {}).items()}


def _whole(spec: Object, part: str) -> Amounts:
    """Return the total requests or limits of a Pod.

    They are the sums of the containers. A Pod-level value replaces the sum for its resource.
    """
    of_pod = _read((spec.get("resources") or {}).get(part))
    counted = {name: each for name, each in of_pod.items() if _is_of_pod(name)}
    return {**aggregated(spec, part), **counted}


def _is_of_pod(name: str) -> bool:
    return name in _OF_POD or name.startswith("hugepages-")


def validate_claim_limits(claim: Object, around: StrategyContext) -> None:
    """Reject a PersistentVolumeClaim that requests more, or less, than a LimitRange permits."""
    about = claim["metadata"]
    for limit_range in around.every(LIMIT_RANGES, namespace=about.get("namespace", "")):
        asked = _read((claim["spec"].get("resources") or {}).get("requests"))
        wrong: list[str] = []
        for item in _items(limit_range, "PersistentVolumeClaim"):
            wrong += _too_little(item, asked, {})
            for name, most in (item.get("max") or {}).items():
                says = f"maximum {name} usage per PersistentVolumeClaim is {most}"
                if name not in asked:
                    wrong.append(f"{says}.  No request is specified")
                elif asked[name] > Quantity(most):
                    wrong.append(f"{says}, but request is {asked[name]}")
        _raise_if_any(wrong, "persistentvolumeclaims", about["name"])


def _violations(item: Object, asked: Amounts, limits: Amounts) -> Iterator[str]:
    yield from _too_little(item, asked, limits)
    kind = item["type"]
    for name, most in (item.get("max") or {}).items():
        says = f"maximum {name} usage per {kind} is {most}"
        if name not in limits:
            yield f"{says}.  No limit is specified"
        elif limits[name] > Quantity(most):
            yield f"{says}, but limit is {limits[name]}"
        elif name in asked and asked[name] > Quantity(most):
            yield f"{says}, but request is {asked[name]}"
    for name, most in (item.get("maxLimitRequestRatio") or {}).items():
        says = f"{name} max limit to request ratio per {kind} is {most}, but"
        for called, amounts in (("request", asked), ("limit", limits)):
            if not amounts.get(name, Quantity(0)).milli_value():
                yield f"{says} no {called} is specified or {called} is 0"
                break
        else:
            ratio = limits[name].milli_value() / asked[name].milli_value()
            if ratio * 1000 > Quantity(most).milli_value():
                yield f"{says} provided ratio is {ratio:f}"


def _too_little(item: Object, asked: Amounts, limits: Amounts) -> Iterator[str]:
    for name, least in (item.get("min") or {}).items():
        says = f"minimum {name} usage per {item['type']} is {least}"
        if name not in asked:
            yield f"{says}.  No request is specified"
        elif asked[name] < Quantity(least):
            yield f"{says}, but request is {asked[name]}"
        elif name in limits and limits[name] < Quantity(least):
            yield f"{says}, but limit is {limits[name]}"


def _raise_if_any(wrong: Iterable[str], resource: str, name: str) -> None:
    sentences = list(dict.fromkeys(wrong))
    if sentences:
        why = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
        raise forbidden(GroupResource("", resource), name, why)
