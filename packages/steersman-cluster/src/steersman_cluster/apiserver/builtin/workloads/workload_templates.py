"""Strategy that all kinds with a Pod template share."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.label_selectors import is_empty, selector_errors, selects
from steersman_cluster.apiserver.builtin.pods.pod_specs import template_errors
from steersman_cluster.apiserver.builtin.pods.pod_warnings import name_warnings, spec_warnings
from steersman_cluster.apiserver.builtin.rule import Check
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import percent
from steersman_cluster.apiserver.meta.strategy import Object


def shown_selector(selector: Object | None) -> Any:
    """Return ``selector`` as kube-apiserver prints it: labels first, with sorted keys."""
    if selector is None:
        return None
    parts = {
        name: msgspec.Raw(msgspec.json.encode(selector[name], order="sorted"))
        for name in ("matchLabels", "matchExpressions")
        if name in selector
    }
    return msgspec.Raw(msgspec.json.encode(parts))


def selected_template_errors(spec: Object, path: str, kind: str) -> list[FieldError]:
    """Return the errors in the selector and in the Pod template.

    The selector must select the template's labels. ``kind`` is the kind in error messages.
    """
    selector: Object | None = spec.get("selector")
    if selector is None:
        errors = [required(f"{path}.selector")]
        return errors + always_template_errors(spec, path, "ReplicaSet", is_selected=False)
    errors = selector_errors(selector, f"{path}.selector")
    if is_empty(selector):
        detail = f"empty selector is invalid for {kind}"
        errors.append(invalid(f"{path}.selector", selector, detail))
    elif errors:
        shown = shown_selector(selector)
        errors.append(invalid(f"{path}.selector", shown, "invalid label selector"))
        return errors
    return errors + always_template_errors(
        spec, path, "ReplicaSet", is_selected=selects(selector, template_labels(spec))
    )


def template_labels(spec: Object) -> Mapping[str, str]:
    """Return the labels in the Pod template of a workload with ``spec``."""
    metadata: Object = (spec.get("template") or {}).get("metadata") or {}
    return metadata.get("labels") or {}


def unselected_error(spec: Object, path: str) -> FieldError:
    """Return the error for a selector that does not select the Pods of the template."""
    detail = "`selector` does not match template `labels`"
    metadata: Object = (spec.get("template") or {}).get("metadata") or {}
    return invalid(f"{path}.template.metadata.labels", metadata.get("labels"), detail)


def always_template_errors(
    spec: Object, path: str, kind: str, *, is_selected: bool
) -> list[FieldError]:
    """Return the errors in the template of a workload whose Pods must run forever.

    ``is_selected``: whether the workload's selector selects the Pods of the template.
    """
    errors = [] if is_selected else [unselected_error(spec, path)]
    template: Object = spec.get("template") or {}
    errors += template_errors(template, f"{path}.template")
    return errors + forever_errors(template.get("spec") or {}, f"{path}.template.spec", kind)


def forever_errors(pod_spec: Object, path: str, kind: str) -> list[FieldError]:
    """Return the errors for settings that would end a Pod that must run forever."""
    errors: list[FieldError] = []
    if (policy := pod_spec.get("restartPolicy", "")) != "Always":
        errors.append(not_supported(f"{path}.restartPolicy", policy, ("Always",)))
    if "activeDeadlineSeconds" in pod_spec:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden(f"{path}.activeDeadlineSeconds", detail))
    return errors


def selector_change_errors(new: Object, old: Object) -> list[FieldError]:
    """Return the error for a changed selector; an empty list if it is unchanged.

    A change would orphan the Pods that the old selector selects.
    """
    selector = new["spec"].get("selector")
    if selector == old["spec"].get("selector"):
        return []
    return [immutable("spec.selector", shown_selector(selector))]


def share_number(value: int | str) -> int:
    """Return the number in ``value``, a number of Pods or a percentage; 0 if it is invalid."""
    if isinstance(value, int):
        return value
    digits = value.removesuffix("%")
    return int(digits) if digits.isascii() and digits.isdecimal() else 0


# A number of Pods or a percentage.
SHARE: Final = rule.when(
    lambda value: isinstance(value, str), percent, otherwise=[rule.NOT_NEGATIVE]
)
AT_MOST_ALL: Final = rule.must(
    lambda value: not isinstance(value, str) or bool(percent(value)) or share_number(value) <= 100,
    "must not be greater than 100%",
)


def counter_rules(*names: str, available: str = "readyReplicas") -> Check:
    """The replica counts ``names`` of a status must not exceed ``replicas``.

    availableReplicas must not exceed readyReplicas; ``available`` is the name of that limit in the
    error message.
    """

    def errors(status: Object, path: str) -> Iterator[FieldError]:
        for name in names:
            if (count := status.get(name, 0)) > status.get("replicas", 0):
                detail = "cannot be greater than status.replicas"
                yield invalid(f"{path}.{name}", count, detail)
        if (count := status.get("availableReplicas", 0)) > status.get("readyReplicas", 0):
            yield invalid(f"{path}.availableReplicas", count, f"cannot be greater than {available}")

    return rule.code(errors)


def collision_errors(new: Object, old: Object) -> list[FieldError]:
    """Return the error for a decreased collision count; an empty list if it is not decreased."""
    count = (new.get("status") or {}).get("collisionCount")
    before = (old.get("status") or {}).get("collisionCount")
    if before is None or (count is not None and count >= before):
        return []
    return [invalid("status.collisionCount", count or 0, "cannot be decremented")]


def template_warnings(
    *, path: str = "spec.template", names_hosts: bool = True
) -> Callable[[Object, Object | None], list[str]]:
    """Return a ``warnings`` function for a Pod template that is new or has changed.

    The template is at ``path``. ``names_hosts``: whether the function also warns if the name of a
    new object is not a DNS label, because the name becomes part of Pod names and hostnames.
    """

    def warnings(new: Object, old: Object | None) -> list[str]:
        found = name_warnings(new, "Pod names and hostnames") if names_hosts and not old else []
        template = _at(new, path)
        if old is None or template != _at(old, path):
            found += spec_warnings(template, path)
        return found

    return warnings


def _at(obj: Object, path: str) -> Object:
    for name in path.split("."):
        obj = obj.get(name) or {}
    return obj
