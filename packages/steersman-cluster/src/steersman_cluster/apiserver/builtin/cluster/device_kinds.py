"""The kinds of dynamic resource allocation: devices and ResourceClaims."""

from collections.abc import Iterator, Mapping
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.common_defaults import fill_empty
from steersman_cluster.apiserver.builtin.common_rules import keeps
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.meta.field_errors import FieldError, immutable, invalid, required
from steersman_cluster.apiserver.meta.name_validation import declared_subdomain_name, subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy

# A slice has exactly one of these.
_FOR_NODES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")


def _default_claim(claim: Object) -> None:
    for request in _device_requests(claim.setdefault("spec", {})):
        fill_empty(request, allocationMode="ExactCount")
        if request["allocationMode"] == "ExactCount":
            fill_empty(request, count=1)


def _default_template(template: Object) -> None:
    _default_claim(template.setdefault("spec", {}))


def _device_requests(spec: Object) -> Iterator[Object]:
    for request in spec.get("devices", {}).get("requests") or ():
        yield from request.get("firstAvailable") or ()
        if (exact := request.get("exactly")) is not None:
            yield exact


def _claim_change_errors(claim: Object, old: Object) -> list[FieldError]:
    return _spec_change_errors("ResourceClaimSpec", claim["spec"], old["spec"])


def _template_change_errors(template: Object, old: Object) -> list[FieldError]:
    return _spec_change_errors("ResourceClaimTemplateSpec", template["spec"], old["spec"])


def _spec_change_errors(type_name: str, spec: Object, old: Object) -> list[FieldError]:
    return [] if spec == old else [immutable("spec", go_form(type_name, spec))]


_SLICE: Final = rule.table(
    rule.all_required("spec.driver", "spec.pool.name"),
    rule.always(
        "spec.pool.resourceSliceCount",
        rule.must(lambda count: count > 0, "must be greater than zero"),
        default=0,
    ),
)


def _slice_nodes_errors(resource_slice: Object) -> list[FieldError]:
    spec = resource_slice.get("spec", {})
    chosen = [f"`{field}`" for field in _FOR_NODES if spec.get(field)]
    why = f"exactly one of {', '.join(f'`{field}`' for field in _FOR_NODES)} is required"
    if not chosen:
        return [required("spec", why)]
    if len(chosen) == 1:
        return []
    return [invalid("spec", f"{{{', '.join(chosen)}}}", f"{why}, but multiple fields are set")]


def _slice_change_errors(resource_slice: Object, old: Object) -> list[FieldError]:
    kept = keeps({"spec.pool.name": "", "spec.driver": "", "spec.nodeName": None})
    return kept(resource_slice, old) + _slice_nodes_errors(resource_slice)


def _selectable_slice(resource_slice: Object) -> Mapping[str, str]:
    spec = resource_slice.get("spec", {})
    return {
        "metadata.name": resource_slice["metadata"].get("name", ""),
        "spec.driver": spec.get("driver", ""),
        "spec.nodeName": spec.get("nodeName", ""),
    }


RESOURCE_CLAIM = Strategy(
    default=_default_claim,
    validate_update=_claim_change_errors,
    name_errors=subdomain_name,
    has_status=True,
    return_deleted_object=True,
)
RESOURCE_CLAIM_TEMPLATE = Strategy(
    default=_default_template,
    validate_update=_template_change_errors,
    name_errors=subdomain_name,
    return_deleted_object=True,
)
DEVICE_CLASS = Strategy(
    name_errors=declared_subdomain_name, generation_fields=("spec",), return_deleted_object=True
)
RESOURCE_SLICE = Strategy(
    validate=_SLICE,
    validate_create=_slice_nodes_errors,
    validate_update=_slice_change_errors,
    name_errors=subdomain_name,
    selectable=_selectable_slice,
    generation_fields=("spec",),
    return_deleted_object=True,
)
