"""ReplicaSets, ReplicationControllers and PodTemplates."""

from collections.abc import Mapping
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.label_selectors import selects
from steersman_cluster.apiserver.builtin.pods.pod_defaults import default_template
from steersman_cluster.apiserver.builtin.pods.pod_specs import template_errors
from steersman_cluster.apiserver.builtin.workloads.workload_templates import (
    always_template_errors,
    counter_rules,
    selected_template_errors,
    selector_change_errors,
    template_labels,
    template_warnings,
)
from steersman_cluster.apiserver.meta.field_errors import FieldError
from steersman_cluster.apiserver.meta.name_validation import declared_subdomain_name, subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, name_and_namespace


def _selectable_controller(obj: Object) -> Mapping[str, str]:
    return {
        **name_and_namespace(obj),
        "status.replicas": str((obj.get("status") or {}).get("replicas", 0)),
    }


def _default_replica_set(replica_set: Object) -> None:
    spec: Object = replica_set.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    default_template(spec.setdefault("template", {}))


def _set_template_errors(spec: Object, path: str) -> list[FieldError]:
    return selected_template_errors(spec, path, "deployment")


_REPLICA_SET: Final = rule.given(
    "spec", rule.not_negative("replicas", "minReadySeconds"), rule.code(_set_template_errors)
)
_STATUS: Final = rule.given(
    "status",
    rule.not_negative(
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ),
    counter_rules("fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
)


def _default_replication_controller(controller: Object) -> None:
    spec: Object = controller.setdefault("spec", {})
    if (template := spec.get("template")) is None:
        return
    default_template(template)
    if labels := template["metadata"].get("labels"):
        if not spec.get("selector"):
            spec["selector"] = {**labels}
        if not controller["metadata"].get("labels"):
            controller["metadata"]["labels"] = {**labels}


def _controller_template_errors(spec: Object, path: str) -> list[FieldError]:
    selector = {"matchLabels": spec.get("selector") or {}}
    is_selected = selects(selector, template_labels(spec))
    return always_template_errors(spec, path, "ReplicationController", is_selected=is_selected)


_REPLICATION_CONTROLLER: Final = rule.given(
    "spec",
    rule.not_negative("minReadySeconds"),
    rule.required("selector"),
    rule.not_negative("replicas"),
    rule.first(rule.needed("template"), rule.code(_controller_template_errors)),
)


def _controller_warnings(new: Object, old: Object | None) -> list[str]:
    """Return the warnings about the template of a ReplicationController.

    In an update, kube-apiserver warns about the old template, not about the new one.
    """
    return template_warnings()(new, None) if old is None else template_warnings()(old, new)


def _default_pod_template(pod_template: Object) -> None:
    default_template(pod_template.setdefault("template", {}))


_POD_TEMPLATE: Final = rule.given("template", rule.code(template_errors))


REPLICA_SET = Strategy(
    default=_default_replica_set,
    validate=_REPLICA_SET,
    validate_update=selector_change_errors,
    validate_status=lambda replica_set, _: _STATUS(replica_set),
    name_errors=subdomain_name,
    warnings=template_warnings(),
    generation_fields=("spec",),
    has_status=True,
)

REPLICATION_CONTROLLER = Strategy(
    default=_default_replication_controller,
    validate=_REPLICATION_CONTROLLER,
    validate_status=lambda replica_set, _: _STATUS(replica_set),
    name_errors=declared_subdomain_name,
    warnings=_controller_warnings,
    selectable=_selectable_controller,
    generation_fields=("spec",),
    has_status=True,
    orphan_by_default=True,
)

POD_TEMPLATE = Strategy(
    default=_default_pod_template,
    validate=_POD_TEMPLATE,
    name_errors=subdomain_name,
    warnings=template_warnings(path="template", names_hosts=False),
    generation_fields=("template",),
    return_deleted_object=True,
)
