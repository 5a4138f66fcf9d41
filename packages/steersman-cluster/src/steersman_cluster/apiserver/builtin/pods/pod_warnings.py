"""Warnings about valid settings of a Pod that are probably a mistake."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin.cluster.node_labels import OLD_LABELS, expression_warnings
from steersman_cluster.apiserver.builtin.pods.container_env import hidden
from steersman_cluster.apiserver.builtin.pods.resource_amounts import may_be_fractional
from steersman_cluster.apiserver.builtin.pods.scheduling_constraints import PREFERRED, REQUIRED
from steersman_cluster.apiserver.builtin.pods.security import (
    APP_ARMOR,
    app_armor_profile,
    containers_of,
)
from steersman_cluster.apiserver.builtin.pods.volume_warnings import (
    claim_warnings,
    overlap_warnings,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, label_value
from steersman_cluster.apiserver.meta.strategy import Object

_NULL_SELECTOR: Final = "a null labelSelector results in matching no pod"
_OLD_SECCOMP: Final = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_OLD_APP_ARMOR: Final = 'deprecated since v1.30; use the "appArmorProfile" field instead'
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"

_OLD_ANNOTATIONS: Final = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
    "security.alpha.kubernetes.io/unsafe-sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
}
_OLD_VOLUMES: Final = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_RENAMED_VOLUMES: Final = {"storageos": "storageOS"}


def name_warnings(obj: Object, use: str) -> list[str]:
    """Return a warning if the name of ``obj`` is not a DNS label.

    ``use`` is the use of the name that requires a DNS label, such as hostnames.
    """
    if not (wrong := dns_label(obj["metadata"].get("name", ""))):
        return []
    return [
        f"metadata.name: this is used in {use}, which can result in surprising behavior;"
        f" a DNS label is recommended: [{' '.join(wrong)}]"
    ]


def spec_warnings(owner: Object, path: str = "") -> list[str]:
    """Return the warnings about a Pod, or about the Pod template at ``path``."""
    before = f"{path}." if path else ""
    spec: Object = owner.get("spec") or {}
    annotations: Mapping[str, str] = (owner.get("metadata") or {}).get("annotations") or {}
    warnings: list[str] = []
    for find in _FINDERS:
        warnings += find(spec, annotations, before)
    return warnings


def _nodes(spec: Object, _: Mapping[str, str], before: str) -> Iterator[str]:
    for key in spec.get("nodeSelector") or ():
        if key in OLD_LABELS:
            yield f"{before}spec.nodeSelector[{key}]: {OLD_LABELS[key]}"
    if nodes := (spec.get("affinity") or {}).get("nodeAffinity"):
        yield from _node_affinity(nodes, f"{before}spec.affinity.nodeAffinity")
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        path = f"{before}spec.topologySpreadConstraints[{index}]"
        if (key := constraint.get("topologyKey", "")) in OLD_LABELS:
            yield f"{path}.topologyKey: {key} is {OLD_LABELS[key]}"
        if "labelSelector" not in constraint:
            yield f"{path}.labelSelector: {_NULL_SELECTOR}"


def _node_affinity(nodes: Object, path: str) -> Iterator[str]:
    terms = (nodes.get(REQUIRED) or {}).get("nodeSelectorTerms") or ()
    for index, term in enumerate(terms):
        where = f"{path}.{REQUIRED}.nodeSelectorTerms[{index}].matchExpressions"
        yield from expression_warnings(term.get("matchExpressions") or [], where)
    for index, each in enumerate(nodes.get(PREFERRED) or ()):
        where = f"{path}.{PREFERRED}[{index}].preference.matchExpressions"
        expressions = (each.get("preference") or {}).get("matchExpressions") or []
        for number, expression in enumerate(expressions):
            key = expression.get("key", "")
            if key in OLD_LABELS:
                yield f"{where}[{number}].key: {key} is {OLD_LABELS[key]}"
            for place, value in enumerate(expression.get("values") or ()):
                for wrong in label_value(value):
                    yield f"{where}[{number}].values[{place}]: {value} is invalid, {wrong}"


def _annotations(_: Object, annotations: Mapping[str, str], before: str) -> Iterator[str]:
    for key, text in _OLD_ANNOTATIONS.items():
        if key in annotations:
            yield f"{before}metadata.annotations[{key}]: {text}"


def _volumes(spec: Object, _: Mapping[str, str], before: str) -> Iterator[str]:
    for index, volume in enumerate(spec.get("volumes") or ()):
        for kind, text in _OLD_VOLUMES.items():
            if kind in volume:
                yield f"{before}spec.volumes[{index}].{_RENAMED_VOLUMES.get(kind, kind)}: {text}"
        yield from claim_warnings(volume, f"{before}spec.volumes[{index}]")
    yield from overlap_warnings(spec.get("volumes") or ())


def _lists(spec: Object, _: Mapping[str, str], before: str) -> Iterator[str]:
    for name, key in (("hostAliases", "ip"), ("imagePullSecrets", "name")):
        seen: set[str] = set()
        for index, each in enumerate(spec.get(name) or ()):
            if (value := each.get(key, "")) in seen:
                yield f'{before}spec.{name}[{index}].{key}: duplicate {key} "{value}"'
            seen.add(value)
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            yield f'{before}spec.imagePullSecrets[{index}].name: invalid empty name ""'


def _fractions(amounts: Mapping[str, str], path: str) -> Iterator[str]:
    for name in ("memory", "ephemeral-storage"):
        amount = amounts.get(name)
        if amount and may_be_fractional(amount) and Quantity(amount).milli_value() % 1000:
            yield (
                f'{path}[{name}]: fractional byte value "{amount}" is invalid, must be an integer'
            )


def _containers(spec: Object, annotations: Mapping[str, str], before: str) -> Iterator[str]:
    yield from _fractions(spec.get("overhead") or {}, f"{before}spec.overhead")
    if _SECCOMP_POD in annotations and "seccompProfile" not in (spec.get("securityContext") or {}):
        yield f"{before}metadata.annotations[{_SECCOMP_POD}]: {_OLD_SECCOMP}"
    for path, container in containers_of(spec, f"{before}spec"):
        key = f"{_SECCOMP_CONTAINER}{container.get('name', '')}"
        context = container.get("securityContext") or {}
        if key in annotations and "seccompProfile" not in context:
            yield f"{before}metadata.annotations[{key}]: {_OLD_SECCOMP}"
        key = f"{APP_ARMOR}{container.get('name', '')}"
        # In a Pod, the field may be a copy of the annotation, so that only templates skip the
        # warning.
        is_said = before and "appArmorProfile" in context
        if key in annotations and not is_said:
            profile = app_armor_profile(annotations[key])
            if profile is None or profile != (spec.get("securityContext") or {}).get(
                "appArmorProfile"
            ):
                yield f"{before}metadata.annotations[{key}]: {_OLD_APP_ARMOR}"
        if resources := container.get("resources"):
            for kind in ("limits", "requests"):
                yield from _fractions(resources.get(kind) or {}, f"{path}.resources.{kind}")
        if len(variables := container.get("env") or ()) > 1:
            for index in hidden(variables):
                name = variables[index].get("name", "")
                yield (
                    f'{path}.env[{index}]: hides previous definition of "{name}", which may be'
                    " dropped when using apply"
                )


def _ports(spec: Object, _: Mapping[str, str], before: str) -> Iterator[str]:
    seen: list[tuple[str, Object]] = []
    named: dict[str, str] = {}
    names: list[str] = []
    for path, container in containers_of(spec, f"{before}spec"):
        for index, port in enumerate(container.get("ports") or ()):
            field = f"{path}.ports[{index}]"
            if port.get("hostIP") and not port.get("hostPort"):
                yield f"{field}: hostIP set without hostPort: {_port_text(port)}"
            yield from _clashes(field, port, seen)
            seen.append((field, port))
            if name := port.get("name"):
                first = named.setdefault(name, field)
                if first != field:
                    names.append(
                        f'{field}: duplicate port name "{name}" with {first}, services and probes'
                        f" that select ports by name will use {first}"
                    )
    yield from names


def _port_text(port: Object) -> str:
    fields = ("name", "hostPort", "containerPort", "protocol", "hostIP")
    numbers = ("hostPort", "containerPort")
    said = (
        f"{name[:1].upper()}{name[1:]}:{port.get(name, 0 if name in numbers else '')}"
        for name in fields
    )
    return f"{{{' '.join(said)}}}"


def _clashes(field: str, port: Object, others: Iterable[tuple[str, Object]]) -> Iterator[str]:
    def same(other: Object, *names: str) -> bool:
        return all(port.get(name) == other.get(name) for name in names)

    for path, other in others:
        if not same(other, "containerPort", "protocol"):
            continue
        if same(other, "hostIP", "hostPort"):
            yield f"{field}: duplicate port definition with {path}"
        elif not port.get("hostPort") or not other.get("hostPort"):
            yield f"{field}: overlapping port definition with {path}"
        elif same(other, "hostPort") and (not port.get("hostIP")) != (not other.get("hostIP")):
            yield f"{field}: dangerously ambiguous port definition with {path}"


def _grace(spec: Object, _: Mapping[str, str], before: str) -> Iterator[str]:
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        yield (
            f"{before}spec.terminationGracePeriodSeconds: must be >= 0; negative values are"
            " invalid and will be treated as 1"
        )


def _affinity(spec: Object, _: Mapping[str, str], before: str) -> Iterator[str]:
    for kind in ("podAffinity", "podAntiAffinity"):
        terms: Object = (spec.get("affinity") or {}).get(kind) or {}
        path = f"{before}spec.affinity.{kind}"
        for index, term in enumerate(terms.get(REQUIRED) or ()):
            if "labelSelector" not in term:
                yield f"{path}.{REQUIRED}[{index}].labelSelector: {_NULL_SELECTOR}"
        for index, each in enumerate(terms.get(PREFERRED) or ()):
            if "labelSelector" not in (each.get("podAffinityTerm") or {}):
                field = f"{path}.{PREFERRED}[{index}].podAffinityTerm.labelSelector"
                yield f"{field}: {_NULL_SELECTOR}"


# In the order of kube-apiserver's warnings.
_FINDERS: Final[Sequence[Callable[[Object, Mapping[str, str], str], Iterator[str]]]] = (
    _nodes,
    _annotations,
    _volumes,
    _lists,
    _containers,
    _ports,
    _grace,
    _affinity,
)
