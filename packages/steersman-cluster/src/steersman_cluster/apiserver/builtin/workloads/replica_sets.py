"""ReplicaSets, ReplicationControllers and PodTemplates."""

from collections.abc import Mapping
from typing import Final

from steersman_cluster.apiserver.builtin.label_selectors import selects
from steersman_cluster.apiserver.builtin.pods.pod_defaults import default_template
from steersman_cluster.apiserver.builtin.pods.pod_specs import template_errors
from steersman_cluster.apiserver.builtin.workloads.workload_templates import (
    always_template_errors,
    counter_errors,
    negative_errors,
    selected_template_errors,
    selector_change_errors,
    template_labels,
    template_warnings,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import declared_subdomain_name, subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, name_and_namespace

_SET_COUNTS: Final = (
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
)
_SET_PARTS: Final = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")


def _selectable_controller(obj: Object) -> Mapping[str, str]:
    return {
        **name_and_namespace(obj),
        "status.replicas": str((obj.get("status") or {}).get("replicas", 0)),
    }


def _default_replica_set(replica_set: Object) -> None:
    spec: Object = replica_set.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    default_template(spec.setdefault("template", {}))


def _validate_replica_set(replica_set: Object) -> list[FieldError]:
    spec: Object = replica_set["spec"]
    errors = negative_errors(spec, ("replicas", "minReadySeconds"), "spec")
    return errors + selected_template_errors(spec, "spec", "deployment")


def _validate_replica_status(new: Object, _: Object) -> list[FieldError]:
    status: Object = new.get("status") or {}
    return negative_errors(status, _SET_COUNTS, "status") + counter_errors(status, _SET_PARTS)


def _default_replication_controller(controller: Object) -> None:
    spec: Object = controller.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    if (template := spec.get("template")) is None:
        return
    default_template(template)
    if labels := template["metadata"].get("labels"):
        if not spec.get("selector"):
            spec["selector"] = {**labels}
        if not controller["metadata"].get("labels"):
            controller["metadata"]["labels"] = {**labels}


def _validate_replication_controller(controller: Object) -> list[FieldError]:
    spec: Object = controller["spec"]
    errors = negative_errors(spec, ("minReadySeconds",), "spec")
    selector: Mapping[str, str] = spec.get("selector") or {}
    if not selector:
        errors.append(required("spec.selector"))
    errors += negative_errors(spec, ("replicas",), "spec")
    if "template" not in spec:
        return [*errors, required("spec.template")]
    is_selected = selects({"matchLabels": selector}, template_labels(spec))
    return errors + always_template_errors(
        spec, "spec", "ReplicationController", is_selected=is_selected
    )


def _controller_warnings(new: Object, old: Object | None) -> list[str]:
    """Return the warnings about the template of a ReplicationController.

    In an update, kube-apiserver warns about the old template, not about the new one.
    """
    return template_warnings()(new, None) if old is None else template_warnings()(old, new)


def _default_pod_template(pod_template: Object) -> None:
    default_template(pod_template.setdefault("template", {}))


def _validate_pod_template(pod_template: Object) -> list[FieldError]:
    return template_errors(pod_template["template"], "template")


REPLICA_SET = Strategy(
    default=_default_replica_set,
    validate=_validate_replica_set,
    validate_update=selector_change_errors,
    validate_status=_validate_replica_status,
    name_errors=subdomain_name,
    warnings=template_warnings(),
    generation_fields=("spec",),
    has_status=True,
)

REPLICATION_CONTROLLER = Strategy(
    default=_default_replication_controller,
    validate=_validate_replication_controller,
    validate_status=_validate_replica_status,
    name_errors=declared_subdomain_name,
    warnings=_controller_warnings,
    selectable=_selectable_controller,
    generation_fields=("spec",),
    has_status=True,
    orphan_by_default=True,
)

POD_TEMPLATE = Strategy(
    default=_default_pod_template,
    validate=_validate_pod_template,
    name_errors=subdomain_name,
    warnings=template_warnings(path="template", names_hosts=False),
    generation_fields=("template",),
    return_deleted_object=True,
)
