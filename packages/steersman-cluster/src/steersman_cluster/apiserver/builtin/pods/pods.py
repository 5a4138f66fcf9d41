"""Pods: their rules, and the effects of a Binding and of an Eviction."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import partial
from typing import Final

from steersman.names import GroupResource
from steersman.units import format_time
from steersman_cluster.apiserver.builtin.plugins.limit_admission import validate_pod_limits
from steersman_cluster.apiserver.builtin.plugins.pod_admission import (
    DEFAULT_TOLERATIONS,
    LIMIT_RANGER,
    POD_SECURITY,
    RUNTIME_CLASS,
    USUAL_PLUGINS,
    add_default_tolerations,
    admit_pod,
)
from steersman_cluster.apiserver.builtin.plugins.pod_security import secure_pod
from steersman_cluster.apiserver.builtin.plugins.runtime_admission import validate_overhead
from steersman_cluster.apiserver.builtin.pods.containers import UNPADDED_IMAGES
from steersman_cluster.apiserver.builtin.pods.pod_defaults import default_pod
from steersman_cluster.apiserver.builtin.pods.pod_specs import pod_annotation_errors, spec_errors
from steersman_cluster.apiserver.builtin.pods.pod_updates import status_errors, update_errors
from steersman_cluster.apiserver.builtin.pods.pod_warnings import name_warnings, spec_warnings
from steersman_cluster.apiserver.builtin.pods.resource_amounts import quality_of_service
from steersman_cluster.apiserver.builtin.pods.scheduling_constraints import merge_label_keys
from steersman_cluster.apiserver.builtin.pods.security import annotation_conflicts
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    aggregated,
    forbidden,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import subdomain_name
from steersman_cluster.apiserver.meta.status_errors import StatusError, bad_request, conflict
from steersman_cluster.apiserver.meta.strategy import (
    Object,
    Strategy,
    StrategyContext,
    name_and_namespace,
)

_BINDING: Final = GroupResource("", "pods/binding")
_TOPOLOGY: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_ENDED: Final = ("Succeeded", "Failed")


def _default(pod: Object) -> None:
    default_pod(pod)
    if status := pod.get("status"):
        _default_addresses(status)


def _default_addresses(status: Object) -> None:
    """Make ``podIP`` the first of ``podIPs``; if they differ, ``podIP`` takes precedence."""
    addresses = status.get("podIPs") or [{}]
    if address := status.get("podIP"):
        if addresses[0].get("ip") != address:
            status["podIPs"] = [{"ip": address}]
    elif address := addresses[0].get("ip"):
        status["podIP"] = address


def _admit(
    pod: Object, old: Object | None, around: StrategyContext, *, plugins: AbstractSet[str]
) -> None:
    if old is None:
        admit_pod(pod, around, plugins=plugins)
        return
    for name in ("priority", "preemptionPolicy"):
        if name in old["spec"]:
            pod["spec"].setdefault(name, old["spec"][name])
    if DEFAULT_TOLERATIONS in plugins:
        add_default_tolerations(pod["spec"])


def _validate_admission(
    pod: Object, old: Object | None, around: StrategyContext, *, plugins: AbstractSet[str]
) -> list[str]:
    if old is None and LIMIT_RANGER in plugins:
        validate_pod_limits(pod, around)
    warnings = secure_pod(pod, old, around) if POD_SECURITY in plugins else []
    if old is None and RUNTIME_CLASS in plugins and "overhead" in pod["spec"]:
        validate_overhead(pod, around)
    return warnings


def _prepare_create(pod: Object, around: StrategyContext) -> None:
    spec = pod["spec"]
    if node := spec.get("nodeName"):
        _add_topology(pod, around.find(GroupResource("", "nodes"), "", node))
    pod["status"] = {"phase": "Pending", "qosClass": quality_of_service(spec)}
    if spec.get("schedulingGates"):
        set_condition(
            pod["status"],
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            },
            now=around.clock.now(),
        )
    merge_label_keys(pod)


def _prepare_status(new: Object, old: Object, _: StrategyContext) -> None:
    new["metadata"].pop("ownerReferences", None)
    if owners := old["metadata"].get("ownerReferences"):
        new["metadata"]["ownerReferences"] = owners
    status: Object = new.setdefault("status", {})
    _drop_disabled_fields(status)
    before: Object = old.get("status") or {}
    for name in ("qosClass", "observedGeneration"):
        if name in before:
            status.setdefault(name, before[name])
    generations = {
        each.get("type"): each["observedGeneration"]
        for each in reversed(before.get("conditions") or ())
        if each.get("observedGeneration")
    }
    for condition in status.get("conditions") or ():
        if (type_ := condition.get("type")) in generations:
            condition.setdefault("observedGeneration", generations[type_])


def _drop_disabled_fields(status: Object) -> None:
    """Drop the fields of disabled features."""
    status.pop("nodeAllocatableResourceClaimStatuses", None)
    for kind in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for container in status.get(kind) or ():
            for mount in container.get("volumeMounts") or ():
                mount.pop("volumeStatus", None)


def _validate(pod: Object) -> list[FieldError]:
    spec: Object = pod["spec"]
    errors: list[FieldError] = []
    if annotations := pod["metadata"].get("annotations"):
        errors += pod_annotation_errors(annotations, spec, "metadata.annotations")
    errors += spec_errors(spec, "spec", pod=pod)
    if not spec.get("serviceAccountName"):
        errors += _token_errors(spec)
    for kind in ("containers", "initContainers"):
        errors += UNPADDED_IMAGES(spec.get(kind) or (), f"spec.{kind}")
    return errors


def _token_errors(spec: Object) -> list[FieldError]:
    detail = "must not be specified when serviceAccountName is not set"
    return [
        forbidden(f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken", detail)
        for index, volume in enumerate(spec.get("volumes") or ())
        for number, source in enumerate((volume.get("projected") or {}).get("sources") or ())
        if "serviceAccountToken" in source
    ]


def _validate_create(pod: Object) -> list[FieldError]:
    spec: Object = pod["spec"]
    errors: list[FieldError] = []
    if spec.get("ephemeralContainers"):
        errors.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        detail = "cannot be set until all schedulingGates have been cleared"
        errors.append(forbidden("spec.nodeName", detail))
    if annotations := pod["metadata"].get("annotations"):
        errors += annotation_conflicts(annotations, spec, "spec")
    return errors


def _warnings(new: Object, old: Object | None) -> list[str]:
    if old is not None:
        return []
    return name_warnings(new, "the Pod's hostname") + spec_warnings(new)


def _selectable(pod: Object) -> Mapping[str, str]:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    return {
        **name_and_namespace(pod),
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.restartPolicy": spec.get("restartPolicy", ""),
        "spec.schedulerName": spec.get("schedulerName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
        "status.phase": status.get("phase", ""),
        "status.podIP": status.get("podIP", ""),
        # kube-apiserver accepts this selector but has no values for it.
        "status.podIPs": "",
        "status.nominatedNodeName": status.get("nominatedNodeName", ""),
    }


def grace_seconds(pod: Object, asked: int | None) -> int:
    """Return the grace period, in seconds, for the deletion of ``pod``.

    ``asked`` is the period that the client requests. The result is 0 if the Pod was never
    scheduled, or has ended.
    """
    spec: Object = pod.get("spec") or {}
    if not spec.get("nodeName") or (pod.get("status") or {}).get("phase") in _ENDED:
        return 0
    seconds = asked if asked is not None else spec.get("terminationGracePeriodSeconds", 0)
    return seconds if seconds >= 0 else 1


def set_condition(status: Object, condition: Object, *, now: datetime) -> None:
    """Add ``condition`` to the status of a Pod, or replace the one of the same type."""
    conditions: list[Object] = [*(status.get("conditions") or ())]
    olds = [each for each in conditions if each.get("type") == condition["type"]]
    changed_at: str = format_time(now)
    if olds and olds[0].get("status") == condition["status"]:
        changed_at = olds[0].get("lastTransitionTime", changed_at)
    made = {**condition, "lastProbeTime": None, "lastTransitionTime": changed_at}
    if olds:
        conditions[conditions.index(olds[0])] = made
    else:
        conditions.append(made)
    status["conditions"] = conditions


def check_binding(binding: Object, name: str) -> None:
    """Raise an error for an invalid ``Binding`` of the Pod ``name``."""
    if binding["metadata"].get("name") != name:
        raise bad_request("name in URL does not match name in Binding object")
    if errors := _target_errors(binding.get("target") or {}):
        # kube-apiserver returns a 500 for this error of the client.
        raise StatusError(500, "", aggregated(errors))


def bound(pod: Object, binding: Object, *, node: Object | None, now: datetime) -> Object:
    """Return ``pod`` as assigned to a node by a valid ``binding``.

    ``node`` is the target node; None if it does not exist. Raises an error if the Pod cannot be
    assigned to the target node.
    """
    target: Object = binding["target"]
    metadata, spec = {**pod["metadata"]}, {**pod["spec"]}
    name = metadata.get("name", "")
    if "deletionTimestamp" in metadata:
        why = f"pod {name} is being deleted, cannot be assigned to a host"
        raise conflict(_BINDING, name, why)
    if assigned := spec.get("nodeName"):
        why = f'pod {name} is already assigned to node "{assigned}"'
        raise conflict(_BINDING, name, why)
    if spec.get("schedulingGates"):
        raise conflict(_BINDING, name, f"pod {name} has non-empty .spec.schedulingGates")
    spec["nodeName"] = target["name"]
    status = {**(pod.get("status") or {})}
    status.pop("nominatedNodeName", None)
    set_condition(status, {"type": "PodScheduled", "status": "True"}, now=now)
    for kind in ("annotations", "labels"):
        if given := binding["metadata"].get(kind):
            metadata[kind] = {**metadata.get(kind, {}), **given}
    after = {**pod, "metadata": metadata, "spec": spec, "status": status}
    if target.get("kind") == "Node":
        _add_topology(after, node)
    return after


def _target_errors(target: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if (kind := target.get("kind", "")) not in ("", "Node"):
        errors.append(not_supported("target.kind", kind, ("Node", "<empty>")))
    if not target.get("name"):
        errors.append(required("target.name"))
    return errors


def _add_topology(pod: Object, node: Object | None) -> None:
    labels: Object = ((node or {}).get("metadata") or {}).get("labels") or {}
    if found := {key: labels[key] for key in _TOPOLOGY if key in labels}:
        pod["metadata"]["labels"] = {**pod["metadata"].get("labels", {}), **found}


def eviction_options(eviction: Object, name: str) -> Object:
    """Return the ``DeleteOptions`` of an ``Eviction`` of the Pod ``name``."""
    if eviction["metadata"].get("name") != name:
        raise bad_request("name in URL does not match name in Eviction object")
    options: Object = eviction.get("deleteOptions") or {}
    return options


def pod_strategy(plugins: AbstractSet[str]) -> Strategy:
    """Return the strategy of Pods with the admission plugins in ``plugins`` enabled."""
    return Strategy(
        default=_default,
        admit=partial(_admit, plugins=plugins),
        validate_admission=partial(_validate_admission, plugins=plugins),
        prepare_create=_prepare_create,
        prepare_status=_prepare_status,
        validate=_validate,
        validate_create=_validate_create,
        validate_update=update_errors,
        validate_status=status_errors,
        name_errors=subdomain_name,
        warnings=_warnings,
        selectable=_selectable,
        generation_fields=("spec",),
        has_status=True,
        return_deleted_object=True,
        grace_seconds=grace_seconds,
    )


POD: Final = pod_strategy(USUAL_PLUGINS)
