"""The parts of a Pod that clients change through separate subresources.

These are the ephemeral containers, which can be added but never changed, and the CPU and memory of
the other containers.
"""

from collections.abc import Iterator
from dataclasses import replace

from steersman_cluster.apiserver.builtin.go_forms import go_difference
from steersman_cluster.apiserver.builtin.pods.pod_specs import MIRROR_POD
from steersman_cluster.apiserver.builtin.pods.pods import POD
from steersman_cluster.apiserver.builtin.pods.resource_amounts import quality_of_service
from steersman_cluster.apiserver.meta.field_errors import FieldError, forbidden, invalid
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext

_SIZES = ("cpu", "memory")
_AMOUNTS = ("requests", "limits")
_CONTAINERS = ("containers", "initContainers")
_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")


def _prepare_debugging(pod: Object, old: Object, _: StrategyContext) -> None:
    _keep_all_but(pod, old, ephemeralContainers=pod["spec"].get("ephemeralContainers"))


def _prepare_resizing(pod: Object, old: Object, _: StrategyContext) -> None:
    if any(len(_all(pod, kind)) != len(_all(old, kind)) for kind in _CONTAINERS):
        return  # the validation rejects this
    containers = {kind: _resized(pod, old, kind) for kind in _CONTAINERS}
    _keep_all_but(pod, old, resources=pod["spec"].get("resources"), **containers)


def _all(pod: Object, kind: str) -> list[Object]:
    return pod["spec"].get(kind) or []


def _keep_all_but(pod: Object, old: Object, **parts: object) -> None:
    spec = {name: value for name, value in old["spec"].items() if name not in parts}
    pod["spec"] = spec | {name: value for name, value in parts.items() if value}
    for name in _METADATA:
        pod["metadata"].pop(name, None)
        if name in old["metadata"]:
            pod["metadata"][name] = old["metadata"][name]


def _resized(pod: Object, old: Object, kind: str) -> list[Object]:
    """Return the containers of ``old`` with the resources in ``pod``.

    If other containers were added, removed or renamed, returns the containers of ``pod`` unchanged,
    so that validation rejects them.
    """
    new, olds = _all(pod, kind), _all(old, kind)
    if [each.get("name") for each in new] != [each.get("name") for each in olds]:
        return new
    sized = ("resources", "resizePolicy")
    return [
        {name: value for name, value in was.items() if name not in sized}
        | {name: each[name] for name in sized if name in each}
        for each, was in zip(new, olds, strict=True)
    ]


def _debugging_errors(pod: Object, old: Object) -> list[FieldError]:
    now = {each["name"]: each for each in pod["spec"].get("ephemeralContainers", ())}
    errors: list[FieldError] = []
    for was in old["spec"].get("ephemeralContainers", ()):
        name = was["name"]
        if name not in now:
            why = f'existing ephemeral containers "{name}" may not be removed\n'
        elif changes := go_difference("EphemeralContainer", was, now[name]):
            why = f'existing ephemeral containers "{name}" may not be changed\n{changes}'
        else:
            continue
        errors.append(forbidden("spec.ephemeralContainers", why))
    return errors


def _resizing_errors(pod: Object, old: Object) -> list[FieldError]:
    if MIRROR_POD in (old["metadata"].get("annotations") or {}):
        return [forbidden("[]", "static pods cannot be resized")]
    if (old["spec"].get("os") or {}).get("name") == "windows":
        return [forbidden("[]", "windows pods cannot be resized")]
    errors: list[FieldError] = []
    status: Object = old.get("status") or {}
    quality = status.get("qosClass") or quality_of_service(old["spec"])
    if quality_of_service(pod["spec"]) != quality:
        why = "Pod QOS Class may not change as a result of resizing"
        errors.append(invalid("spec", quality, why))
    if not _is_resizable(status):
        errors.append(forbidden("spec", "Pod running on node without support for resize"))
    errors += _whole_errors(pod["spec"].get("resources"), old["spec"].get("resources"))
    if wrong := [*_order_errors(pod, old)]:
        return errors + wrong
    return [*errors, *_removal_errors(pod, old), *_container_errors(pod, old)]


def _is_resizable(status: Object) -> bool:
    """Return whether the node reports the resources of running containers.

    Returns True if no container is running.
    """
    for container in status.get("containerStatuses") or ():
        if (container.get("state") or {}).get("running") is not None:
            return "resources" in container
    return True


def _whole_errors(new: Object | None, old: Object | None) -> Iterator[FieldError]:
    """Yield the errors in a resize of the Pod-level resources."""
    if not any((each or {}).get(kind) for each in (new, old) for kind in _AMOUNTS):
        return
    if old is not None and new is None:
        yield forbidden("spec.resources", "pod-level resources cannot be removed")
        return
    for kind in _AMOUNTS if old is not None else ():
        if _is_removed(new or {}, old or {}, kind):
            why = f"pod-level resource {kind} cannot be removed"
            yield forbidden(f"spec.resources.{kind}", why)
    if any(_others(new or {}, kind) != _others(old or {}, kind) for kind in (*_AMOUNTS, "claims")):
        yield forbidden("spec", "only cpu and memory resources are mutable at pod-level")


def _order_errors(pod: Object, old: Object) -> Iterator[FieldError]:
    for kind in _CONTAINERS:
        new, olds = _all(pod, kind), _all(old, kind)
        if len(new) != len(olds):
            yield forbidden(f"spec.{kind}", f"{kind} may not be added or removed on resize")
            continue
        for index, (each, was) in enumerate(zip(new, olds, strict=True)):
            if each.get("name") != was.get("name"):
                why = f"{kind} may not be renamed or reordered on resize"
                yield forbidden(f"spec.{kind}[{index}].name", why)


def _removal_errors(pod: Object, old: Object) -> Iterator[FieldError]:
    for container in reversed(_CONTAINERS):
        pairs = zip(_all(pod, container), _all(old, container), strict=True)
        for index, (new, was) in enumerate(pairs):
            for kind in _AMOUNTS:
                if _is_removed(new.get("resources") or {}, was.get("resources") or {}, kind):
                    path = f"spec.{container}[{index}].resources.{kind}"
                    yield forbidden(path, f"resource {kind} cannot be removed")


def _is_removed(new: Object, old: Object, kind: str) -> bool:
    return bool((old.get(kind) or {}).keys() - (new.get(kind) or {}).keys())


def _container_errors(pod: Object, old: Object) -> Iterator[FieldError]:
    """Yield the errors for changes other than those of CPU and memory."""
    for new, was in zip(_all(pod, "containers"), _all(old, "containers"), strict=True):
        if _without_sizes(new) != _with_claims(was):
            yield forbidden("spec", "only cpu and memory resources are mutable")
    pairs = zip(_all(pod, "initContainers"), _all(old, "initContainers"), strict=True)
    for index, (new, was) in enumerate(pairs):
        path = f"spec.initContainers[{index}]"
        if _without_sizes(new) != _with_claims(was):
            why = "only cpu and memory resources for init or sidecar containers are mutable"
            yield forbidden(path, why)


def _without_sizes(container: Object) -> Object:
    """Return a container without CPU and memory.

    The references to ResourceClaims are also removed, because kube-apiserver drops them in a
    resize.
    """
    resources = container.get("resources") or {}
    return {**container, "resources": {kind: _others(resources, kind) for kind in _AMOUNTS}}


def _with_claims(container: Object) -> Object:
    claims = (container.get("resources") or {}).get("claims")
    rest = _without_sizes(container)
    return {**rest, "resources": {**rest["resources"], "claims": claims}} if claims else rest


def _others(resources: Object, kind: str) -> object:
    amounts = resources.get(kind)
    if not isinstance(amounts, dict):
        return amounts
    return {name: amount for name, amount in amounts.items() if name not in _SIZES} or None


# For ``pods/NAME/ephemeralcontainers`` and ``pods/NAME/resize``.
POD_DEBUGGING = replace(POD, prepare_update=_prepare_debugging, validate_update=_debugging_errors)
POD_RESIZING = replace(POD, prepare_update=_prepare_resizing, validate_update=_resizing_errors)
