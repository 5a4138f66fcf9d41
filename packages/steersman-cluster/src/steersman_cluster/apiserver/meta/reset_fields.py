"""The reset fields of resources: fields that a write never changes, so no manager owns them."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from steersman.names import GroupResource

# In the form of ``fieldsV1``: a tree of path elements.
FieldSet: TypeAlias = dict[str, Any]

_STATUS: Final[FieldSet] = {"f:status": {}}
_SPEC: Final[FieldSet] = {"f:spec": {}}
_METADATA_AND_SPEC: Final[FieldSet] = {"f:metadata": {}, "f:spec": {}}

_BUT_STATUS: Final[Mapping[tuple[str, str], FieldSet]] = {
    ("", "pods"): {
        "f:spec": {},
        "f:metadata": {"f:deletionTimestamp": {}, "f:ownerReferences": {}},
    },
    ("apps", "deployments"): {"f:spec": {}, "f:metadata": {"f:labels": {}}},
    ("certificates.k8s.io", "certificatesigningrequests"): {
        "f:spec": {},
        "f:status": {"f:conditions": {}},
    },
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"): _METADATA_AND_SPEC,
    ("apiextensions.k8s.io", "customresourcedefinitions"): _METADATA_AND_SPEC,
    ("apiregistration.k8s.io", "apiservices"): _METADATA_AND_SPEC,
    ("flowcontrol.apiserver.k8s.io", "flowschemas"): _METADATA_AND_SPEC,
    ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"): _METADATA_AND_SPEC,
    ("networking.k8s.io", "servicecidrs"): _METADATA_AND_SPEC,
    ("resource.k8s.io", "resourceclaims"): _METADATA_AND_SPEC,
    ("storage.k8s.io", "volumeattachments"): _METADATA_AND_SPEC,
}
_SIGNING_REQUESTS: Final = ("certificates.k8s.io", "certificatesigningrequests")


def reset_fields(
    resource: GroupResource, subresource: str, *, has_status: bool, custom: bool
) -> FieldSet:
    """Return the reset fields of ``resource``, or of its ``subresource`` if that is not empty."""
    which = (resource.group, resource.resource)
    if subresource == "status":
        return _METADATA_AND_SPEC if custom else _BUT_STATUS.get(which, _SPEC)
    if subresource == "approval":
        return {"f:spec": {}, "f:status": {"f:certificate": {}}}
    if which == _SIGNING_REQUESTS:
        return {"f:spec": {}, "f:status": {}}
    if not has_status or subresource not in ("", "finalize"):
        return {}
    return _STATUS
