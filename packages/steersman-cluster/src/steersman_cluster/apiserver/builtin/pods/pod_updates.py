"""Validation of an update of a Pod or of its status."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address
from typing import Final

from steersman_cluster.apiserver.builtin.go_forms import go_form, pod_spec_difference
from steersman_cluster.apiserver.builtin.pods.containers import UNPADDED_IMAGES
from steersman_cluster.apiserver.builtin.pods.pod_specs import MIRROR_POD, pod_annotation_errors
from steersman_cluster.apiserver.builtin.pods.pod_statuses import (
    claim_status_errors,
    container_status_errors,
)
from steersman_cluster.apiserver.builtin.pods.scheduling_constraints import (
    REQUIRED,
    TOLERATIONS,
)
from steersman_cluster.apiserver.builtin.pods.security import APP_ARMOR
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    immutable,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_subdomain,
    ip,
    label_key,
    sloppy_ip,
    within,
)
from steersman_cluster.apiserver.meta.strategy import Object

_MAX_SECONDS: Final = 2**31 - 1
_UPDATABLE: Final = ",".join(
    (
        "`spec.containers[*].image`",
        "`spec.initContainers[*].image`",
        "`spec.activeDeadlineSeconds`",
        "`spec.tolerations` (only additions to existing tolerations)",
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously"
        " negative)",
    )
)
_SYSTEM_CONDITIONS: Final = ("PodScheduled", "Ready", "Initialized")
_STATUSES: Final = {
    "containerStatuses": "containers",
    "initContainerStatuses": "initContainers",
    "ephemeralContainerStatuses": "",
}


def update_errors(new: Object, old: Object) -> list[FieldError]:
    """Return the errors in an update of a Pod."""
    errors = _annotation_change_errors(new, old)
    spec, before = new["spec"], old["spec"]
    for kind in ("containers", "initContainers"):
        containers, olds = spec.get(kind) or (), before.get(kind) or ()
        if len(containers) != len(olds):
            detail = "pod updates may not add or remove containers"
            return [*errors, forbidden(f"spec.{kind}", detail)]
        for index, container in enumerate(containers):
            if not container.get("image"):
                errors.append(required(f"spec.{kind}[{index}].image"))
        errors += UNPADDED_IMAGES(containers, f"spec.{kind}")
    wrong, is_final = _deadline_errors(spec, before)
    errors += wrong
    if is_final:
        return errors
    errors += _toleration_change_errors(spec, before)
    errors += _gate_change_errors(spec, before)
    if spec == before:
        return errors
    return errors + _spec_change_errors(spec, before)


def _annotation_change_errors(new: Object, old: Object) -> list[FieldError]:
    path = "metadata.annotations"
    annotations: Mapping[str, str] = new["metadata"].get("annotations") or {}
    olds: Mapping[str, str] = old["metadata"].get("annotations") or {}
    errors: list[FieldError] = []
    for key in (*olds, *(key for key in annotations if key not in olds)):
        if annotations.get(key) == olds.get(key):
            continue
        action = "remove or update" if key in olds else "add"
        if key.startswith(APP_ARMOR):
            errors.append(forbidden(f"{path}[{key}]", f"may not {action} AppArmor annotations"))
        if key == MIRROR_POD:
            errors.append(forbidden(f"{path}[{key}]", f"may not {action} mirror pod annotation"))
    return errors + pod_annotation_errors(annotations, new["spec"], path)


def _deadline_errors(spec: Object, before: Object) -> tuple[list[FieldError], bool]:
    """Return the errors in a changed ``activeDeadlineSeconds``.

    Also returns whether validation ends with these errors.
    """
    path = "spec.activeDeadlineSeconds"
    seconds, olds = spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if seconds is None:
        detail = "must not update from a positive integer to nil value"
        return ([] if olds is None else [invalid(path, None, detail)]), False
    if wrong := within(seconds, 0, _MAX_SECONDS):
        return all_invalid(path, seconds, wrong), True
    if olds is not None and olds < seconds:
        return [invalid(path, seconds, "must be less than or equal to previous value")], True
    return [], False


def _toleration_change_errors(spec: Object, before: Object) -> list[FieldError]:
    def without_seconds(holder: Object) -> set[frozenset[tuple[str, str]]]:
        return {
            frozenset(pair for pair in each.items() if pair[0] != "tolerationSeconds")
            for each in holder.get("tolerations") or ()
        }

    if not without_seconds(before) <= without_seconds(spec):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        return [forbidden("spec.tolerations", detail)]
    return TOLERATIONS(spec.get("tolerations") or (), "spec.tolerations")


def _gate_change_errors(spec: Object, before: Object) -> list[FieldError]:
    olds = {each.get("name") for each in before.get("schedulingGates") or ()}
    return [
        forbidden(
            f"spec.schedulingGates[{index}].name",
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name', '')}'",
        )
        for index, gate in enumerate(spec.get("schedulingGates") or ())
        if gate.get("name") not in olds
    ]


def _spec_change_errors(spec: Object, before: Object) -> list[FieldError]:
    """Return the errors for changes of fields that are immutable.

    The comparison uses a copy of the spec in which the permitted changes are reverted.
    """
    errors: list[FieldError] = []
    changed = {**spec}
    for kind in ("containers", "initContainers"):
        if kind in spec:
            changed[kind] = [
                {**container, "image": old.get("image", "")}
                for container, old in zip(spec[kind], before[kind], strict=True)
            ]
    for name in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        _restore_field(changed, before, name)
    was_negative = before.get("terminationGracePeriodSeconds", 0) < 0
    if was_negative and spec.get("terminationGracePeriodSeconds") == 1:
        _restore_field(changed, before, "terminationGracePeriodSeconds")
    if before.get("schedulingGates"):
        errors += _gated_change_errors(changed, before)
    if changed != before:
        difference = pod_spec_difference(before, changed)
        detail = f"pod updates may not change fields other than {_UPDATABLE}\n{difference}"
        errors.append(forbidden("spec", detail))
    return errors


def _restore_field(changed: Object, before: Object, name: str) -> None:
    changed.pop(name, None)
    if name in before:
        changed[name] = before[name]


def _gated_change_errors(changed: Object, before: Object) -> list[FieldError]:
    """Return the errors for changes of a Pod with scheduling gates.

    A change may only reduce the set of nodes to which the Pod can be scheduled.
    """
    errors: list[FieldError] = []
    selector, old = changed.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if any(selector.get(key) != value for key, value in old.items()):
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        errors.append(invalid("spec.nodeSelector", selector or None, detail))
    _restore_field(changed, before, "nodeSelector")
    affinity, old_affinity = changed.get("affinity") or {}, before.get("affinity") or {}
    nodes, olds = affinity.get("nodeAffinity"), old_affinity.get("nodeAffinity")
    if nodes != olds:
        path = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
        errors += _term_change_errors(_terms(nodes), _terms(olds), path)
        rest = {name: affinity[name] for name in affinity if name != "nodeAffinity"}
        if olds is not None:
            rest["nodeAffinity"] = olds
        changed.pop("affinity", None)
        if rest or "affinity" in before:
            changed["affinity"] = rest
    return errors


def _terms(affinity: Object | None) -> Sequence[Object]:
    return ((affinity or {}).get(REQUIRED) or {}).get("nodeSelectorTerms") or ()


def _term_change_errors(
    terms: Sequence[Object], olds: Sequence[Object], path: str
) -> list[FieldError]:
    if olds and len(terms) != len(olds):
        detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        shown = [go_form("NodeSelectorTerm", each) for each in terms] or None
        return [invalid(path, shown, detail)]
    detail = "only additions are allowed (no mutations or deletions)"
    return [
        invalid(f"{path}[{index}]", go_form("NodeSelectorTerm", term), detail)
        for index, (term, old) in enumerate(zip(terms, olds, strict=False))
        if not _only_adds(term, old)
    ]


def _only_adds(term: Object, old: Object) -> bool:
    if not old:
        return not term
    return all(
        (term.get(name) or [])[: len(old.get(name) or [])] == (old.get(name) or [])
        for name in ("matchExpressions", "matchFields")
    )


def status_errors(new: Object, old: Object) -> list[FieldError]:
    """Return the errors in an update of a Pod's status."""
    errors = _annotation_change_errors(new, old)
    status: Object = new.get("status") or {}
    before: Object = old.get("status") or {}
    for index, condition in enumerate(status.get("conditions") or ()):
        type_ = condition.get("type", "")
        if condition.get("observedGeneration", 0) < 0:
            field = f"status.conditions[{index}].observedGeneration"
            detail = "must be a non-negative integer"
            errors.append(invalid(field, condition["observedGeneration"], detail))
        if type_ not in _SYSTEM_CONDITIONS:
            errors += all_invalid(f"status.conditions[{index}].Type", type_, label_key(type_))
    errors += _nomination_errors(status, before, is_bound=bool(old["spec"].get("nodeName")))
    if (generation := status.get("observedGeneration", 0)) < 0:
        detail = "must be a non-negative integer"
        errors.append(invalid("status.observedGeneration", generation, detail))
    if (quality := status.get("qosClass")) != before.get("qosClass"):
        errors.append(immutable("status.qosClass", quality))
    for name, kind in _STATUSES.items():
        errors += _transition_errors(status, before, name, old["spec"], kind)
    errors += claim_status_errors(status, new["spec"])
    errors += _address_errors(status, before, "podIPs")
    hosts = status.get("hostIPs") or ()
    if hosts and hosts[0].get("ip", "") != status.get("hostIP", ""):
        field, address = "status.hostIPs[0].ip", hosts[0].get("ip", "")
        errors.append(invalid(field, address, "must be equal to `hostIP`"))
    errors += _address_errors(status, before, "hostIPs")
    return [*errors, *container_status_errors(status, new["spec"])]


def _nomination_errors(status: Object, before: Object, *, is_bound: bool) -> list[FieldError]:
    node, field = status.get("nominatedNodeName", ""), "status.nominatedNodeName"
    if not node or node == before.get("nominatedNodeName"):
        return []
    errors = all_invalid(field, node, dns_subdomain(node))
    if is_bound:
        detail = "may not be set on pods that are already bound to a node"
        errors.append(forbidden(field, detail))
    return errors


def _transition_errors(
    status: Object, before: Object, name: str, spec: Object, kind: str
) -> list[FieldError]:
    """Return the errors for terminated containers that run again against the restart policy."""
    containers: Mapping[str, Object] = {
        each.get("name", ""): each for each in spec.get(kind) or () if kind
    }
    if any(
        rule.get("action") == "RestartAllContainers"
        for each in containers.values()
        for rule in each.get("restartPolicyRules") or ()
    ):
        return []
    now = {each.get("name"): each for each in status.get(name) or ()}
    errors: list[FieldError] = []
    for index, old in enumerate(before.get(name) or ()):
        ended = (old.get("state") or {}).get("terminated")
        new = now.get(old.get("name"))
        if ended is None or new is None or "terminated" in (new.get("state") or {}):
            continue
        container = containers.get(old.get("name", ""))
        if container is None or not _restarts(container, spec, ended.get("exitCode", 0)):
            detail = "may not be transitioned to non-terminated state"
            errors.append(forbidden(f"status.{name}[{index}].state", detail))
    return errors


def _restarts(container: Object, spec: Object, exit_code: int) -> bool:
    for rule in container.get("restartPolicyRules") or ():
        codes: Object = rule.get("exitCodes") or {}
        is_in = exit_code in (codes.get("values") or ())
        if rule.get("action") == "Restart" and is_in == (codes.get("operator") == "In"):
            return True
    policy = container.get("restartPolicy") or spec.get("restartPolicy")
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def _address_errors(status: Object, before: Object, name: str) -> list[FieldError]:
    known = {each.get("ip") for each in before.get(name) or ()}
    addresses = [each.get("ip", "") for each in status.get(name) or ()]
    errors = [
        error
        for index, address in enumerate(addresses)
        if address not in known
        for error in all_invalid(f"status.{name}[{index}]", address, ip(address))
    ]
    families = {isinstance(sloppy_ip(each), IPv4Address) for each in addresses}
    if len(addresses) > len(families):
        detail = "may specify no more than one IP for each IP family"
        shown = [{"IP": each} for each in addresses]
        errors.append(invalid(f"status.{name}", shown, detail))
    return errors
