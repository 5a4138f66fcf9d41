"""The admission plugin PodSecurity: validates a namespace's labels, and Pods against them."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.plugins.pod_standards import NEWEST, Pod, violations
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext

_LABEL: Final = "pod-security.kubernetes.io/"
_LEVELS: Final = ("privileged", "baseline", "restricted")
_NAMESPACES: Final = GroupResource("", "namespaces")
_PODS: Final = GroupResource("", "pods")
_is_version: Final = re.compile(r"v1\.([0-9]|[1-9][0-9]*)").fullmatch
# How many existing Pods are checked when a namespace becomes stricter.
_MAX_PODS: Final = 3000


class Standard(NamedTuple):
    """A Pod Security Standard: its level and its version."""

    level: str = "privileged"
    version: str = "latest"

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"

    def violations(self, annotations: Mapping[str, str], spec: Object) -> list[tuple[str, str]]:
        """Return how a Pod with ``annotations`` and ``spec`` violates the standard.

        Each item contains what the standard forbids, and where it occurs in the Pod.
        """
        if self.level == "privileged":
            return []
        minor = NEWEST if self.version == "latest" else min(int(self.version[3:]), NEWEST)
        pod = Pod(annotations, spec, minor)
        return violations(pod, restricted=self.level == "restricted")


def _standard(
    labels: Mapping[str, str], mode: str, errors: list[FieldError]
) -> tuple[Standard, bool]:
    """Return the standard that ``labels`` set for ``mode``, and whether its level is known."""
    level, version = labels.get(f"{_LABEL}{mode}"), labels.get(f"{_LABEL}{mode}-version")
    is_known = level in _LEVELS
    if level is not None and not is_known:
        why = f"must be one of {', '.join(_LEVELS)}"
        errors.append(invalid(f"metadata.labels[{_LABEL}{mode}]", level, why))
        # As in kube-apiserver: an unknown level enforces the strictest level, and causes no
        # warnings.
        level = "restricted" if mode == "enforce" else "privileged"
    if version is not None and version != "latest" and not _is_version(version):
        why = 'must be "latest" or "v1.x"'
        errors.append(invalid(f"metadata.labels[{_LABEL}{mode}-version]", version, why))
        version = None
    return Standard(level or "privileged", version or "latest"), is_known


def _policy(namespace: Object) -> tuple[Standard, Standard, list[FieldError]]:
    """Return the standards to enforce and to warn of, and the errors in the labels."""
    labels = namespace["metadata"].get("labels") or {}
    errors: list[FieldError] = []
    enforced, is_known = _standard(labels, "enforce", errors)
    _standard(labels, "audit", errors)
    warned, _ = _standard(labels, "warn", errors)
    if is_known and f"{_LABEL}warn" not in labels and enforced.level != "privileged":
        has_version = f"{_LABEL}warn-version" in labels
        warned = Standard(enforced.level, (warned if has_version else enforced).version)
    return enforced, warned, errors


def _is_labeled(namespace: Object | None) -> bool:
    labels = (namespace or {"metadata": {}})["metadata"].get("labels") or {}
    return any(each.startswith(_LABEL) for each in labels)


def _detail(found: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{reason} ({detail})" if detail else reason for reason, detail in found)


def secure_pod(pod: Object, old: Object | None, around: StrategyContext) -> list[str]:
    """Reject a Pod that violates the standard which its namespace enforces.

    Returns warnings if the Pod violates only the standard of the mode ``warn``.
    """
    namespace = around.find(_NAMESPACES, "", pod["metadata"].get("namespace", ""))
    if namespace is None or not _is_labeled(namespace) or not _is_significant(pod, old):
        return []
    enforced, warned, _ = _policy(namespace)
    annotations = pod["metadata"].get("annotations") or {}
    if found := enforced.violations(annotations, pod["spec"]):
        why = f'violates PodSecurity "{enforced}": {_detail(found)}'
        raise status_errors.forbidden(_PODS, pod["metadata"].get("name", ""), why)
    return _warnings(warned, annotations, pod["spec"])


def _warnings(standard: Standard, annotations: Mapping[str, str], spec: Object) -> list[str]:
    found = standard.violations(annotations, spec)
    return [f'would violate PodSecurity "{standard}": {_detail(found)}'] if found else []


def _is_significant(pod: Object, old: Object | None) -> bool:
    if old is None:
        return True
    return any(
        _images(pod, kind) != _images(old, kind) for kind in ("containers", "initContainers")
    ) or not set(_images(pod, "ephemeralContainers")) <= set(_images(old, "ephemeralContainers"))


def _images(pod: Object, kind: str) -> list[tuple[str, str]]:
    return [(each.get("name", ""), each.get("image", "")) for each in pod["spec"].get(kind) or ()]


def template_validator(
    *path: str,
) -> Callable[[Object, Object | None, StrategyContext], Sequence[str]]:
    """Return a ``validate_admission`` function that warns about the Pod template at ``path``."""
    return partial(_validate_template, path=path)


def _validate_template(
    obj: Object, _: Object | None, around: StrategyContext, *, path: Sequence[str]
) -> Sequence[str]:
    namespace = around.find(_NAMESPACES, "", obj["metadata"].get("namespace", ""))
    if namespace is None or not _is_labeled(namespace):
        return ()
    for each in path:
        obj = obj.get(each) or {}
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    return _warnings(_policy(namespace)[1], annotations, obj.get("spec") or {})


def validate_namespace_policy(
    namespace: Object, old: Object | None, around: StrategyContext
) -> Sequence[str]:
    """Reject Pod Security labels of a namespace that became invalid with this write.

    If the enforced standard may have become stricter, returns warnings about existing Pods that
    violate the new one.
    """
    if not _is_labeled(namespace):
        return ()
    enforced, _, errors = _policy(namespace)
    name = namespace["metadata"]["name"]
    before, _, earlier = _policy(old) if old is not None else (Standard(), Standard(), [])
    if errors and errors != earlier:
        raise status_errors.invalid("Namespace", name, errors)
    if old is None or enforced == before or enforced.level == "privileged":
        return ()
    eases = _LEVELS.index(enforced.level) <= _LEVELS.index(before.level)
    if eases and enforced.version == before.version:
        return ()
    return _existing(name, enforced, around)


def _existing(namespace: str, enforced: Standard, around: StrategyContext) -> list[str]:
    pods = _prioritized([*around.every(_PODS, namespace=namespace)])
    blamed: dict[str, list[str]] = {}
    for pod in pods[:_MAX_PODS]:
        about = pod["metadata"]
        if found := enforced.violations(about.get("annotations") or {}, pod["spec"]):
            reasons = ", ".join(reason for reason, _ in found)
            blamed.setdefault(reasons, []).append(about["name"])
    warnings: list[str] = []
    if len(pods) > _MAX_PODS:
        first = f"the first {_MAX_PODS} of {len(pods)} existing pods"
        warnings.append(f"new PodSecurity enforce level only checked against {first}")
    if blamed:
        what = f'violate the new PodSecurity enforce level "{enforced}"'
        warnings.append(f'existing pods in namespace "{namespace}" {what}')
    return warnings + sorted(f"{_called(each)}: {why}" for why, each in blamed.items())


def _prioritized(pods: list[Object]) -> list[Object]:
    """Sort the Pods so that all but the first Pod of each controlling owner come last.

    Only a limited number of Pods is checked, and Pods with the same owner are similar.
    """
    first: list[Object] = []
    rest: list[Object] = []
    seen: set[str] = set()
    for pod in pods:
        owners = pod["metadata"].get("ownerReferences") or ()
        owner = next((each["uid"] for each in owners if each.get("controller")), "")
        (rest if owner in seen else first).append(pod)
        if owner:
            seen.add(owner)
    return first + rest


def _called(names: list[str]) -> str:
    others = len(names) - 1
    if not others:
        return names[0]
    return f"{min(names)} (and {others} other {'pod' if others == 1 else 'pods'})"
