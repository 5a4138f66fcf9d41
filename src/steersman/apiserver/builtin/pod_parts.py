"""What of a Pod is changed on its own, through a subresource of its own.

That are the containers that debug it, which may be added and never changed, and the CPU and the
memory that the others have.
"""

from collections.abc import Iterator
from dataclasses import replace

from steersman.apiserver.builtin.go_forms import go_difference
from steersman.apiserver.builtin.pods import POD
from steersman.apiserver.builtin.resource_amounts import quality_of_service
from steersman.apiserver.field_errors import FieldError, forbidden, invalid
from steersman.apiserver.rules import Object, Surroundings

_SIZES = ("cpu", "memory")
_CONTAINERS = ("containers", "initContainers")
_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")


def _prepare_debugging(pod: Object, old: Object, _: Surroundings) -> None:
    _keep_all_but(pod, old, ephemeralContainers=pod["spec"].get("ephemeralContainers"))


def _prepare_resizing(pod: Object, old: Object, _: Surroundings) -> None:
    containers = {kind: _resized(pod, old, kind) for kind in _CONTAINERS}
    _keep_all_but(pod, old, resources=pod["spec"].get("resources"), **containers)


def _keep_all_but(pod: Object, old: Object, **parts: object) -> None:
    spec = {name: value for name, value in old["spec"].items() if name not in parts}
    pod["spec"] = spec | {name: value for name, value in parts.items() if value}
    for name in _METADATA:
        pod["metadata"].pop(name, None)
        if name in old["metadata"]:
            pod["metadata"][name] = old["metadata"][name]


def _resized(pod: Object, old: Object, kind: str) -> list[Object]:
    """The old containers in their new sizes; other containers are for validation to refuse."""
    new, olds = pod["spec"].get(kind, []), old["spec"].get(kind, [])
    if [each["name"] for each in new] != [each["name"] for each in olds]:
        return new  # type: ignore[no-any-return]
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
    errors: list[FieldError] = []
    quality = old.get("status", {}).get("qosClass") or quality_of_service(old["spec"])
    if quality_of_service(pod["spec"]) != quality:
        why = "Pod QOS Class may not change as a result of resizing"
        errors.append(invalid("spec", quality, why))
    if wrong := [*_order_errors(pod, old)]:
        return errors + wrong
    for kind in _CONTAINERS:
        pairs = zip(pod["spec"].get(kind, ()), old["spec"].get(kind, ()), strict=True)
        for index, (new, was) in enumerate(pairs):
            path = f"spec.{kind}[{index}].resources"
            errors += _size_errors(new.get("resources", {}), was.get("resources", {}), path)
    return errors


def _order_errors(pod: Object, old: Object) -> Iterator[FieldError]:
    for kind in _CONTAINERS:
        new, olds = pod["spec"].get(kind, ()), old["spec"].get(kind, ())
        if len(new) != len(olds):
            yield forbidden(f"spec.{kind}", f"{kind} may not be added or removed on resize")
            continue
        for index, (each, was) in enumerate(zip(new, olds, strict=True)):
            if each["name"] != was["name"]:
                why = f"{kind} may not be renamed or reordered on resize"
                yield forbidden(f"spec.{kind}[{index}].name", why)


def _size_errors(new: Object, old: Object, path: str) -> Iterator[FieldError]:
    for kind in ("requests", "limits"):
        if old.get(kind, {}).keys() - new.get(kind, {}).keys():
            yield forbidden(f"{path}.{kind}", f"resource {kind} cannot be removed")
    if any(_others(new, kind) != _others(old, kind) for kind in ("requests", "limits", "claims")):
        yield forbidden("spec", "only cpu and memory resources are mutable")


def _others(resources: Object, kind: str) -> object:
    amounts = resources.get(kind)
    if not isinstance(amounts, dict):
        return amounts
    return {name: amount for name, amount in amounts.items() if name not in _SIZES} or None


# For ``pods/NAME/ephemeralcontainers`` and ``pods/NAME/resize``.
POD_DEBUGGING = replace(POD, prepare_update=_prepare_debugging, validate_update=_debugging_errors)
POD_RESIZING = replace(POD, prepare_update=_prepare_resizing, validate_update=_resizing_errors)
