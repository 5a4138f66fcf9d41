"""The conversion of a write request to an AdmissionRequest.

Webhooks receive the AdmissionRequest, and CEL expressions read it.
"""

from steersman.names import GroupVersionKind, GroupVersionResource
from steersman_cluster.apiserver.admission.attributes import AdmissionAttributes
from steersman_cluster.apiserver.admission.matcher import MatchedResource
from steersman_cluster.apiserver.meta.strategy import Object


def request_of(attributes: AdmissionAttributes, matched: MatchedResource) -> Object:
    """Return the AdmissionRequest of the write request ``attributes``.

    Its objects are in the API version of ``matched``.
    """
    user = attributes.user
    about: Object = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    if user.extra:
        about["extra"] = {name: list(values) for name, values in user.extra.items()}
    request: Object = {
        "kind": _kind(matched.kind),
        "resource": _resource(matched.resource),
        "subResource": attributes.subresource,
        "requestKind": _kind(attributes.kind),
        "requestResource": _resource(attributes.resource),
        "requestSubResource": attributes.subresource,
        "name": attributes.name,
        "namespace": attributes.namespace,
        "operation": attributes.operation,
        "userInfo": {name: value for name, value in about.items() if value},
        "object": attributes.obj,
        "oldObject": attributes.old,
        "dryRun": attributes.dry_run,
        "options": attributes.options,
    }
    for name in ("subResource", "requestSubResource", "name", "namespace"):
        if not request[name]:
            del request[name]
    return request


def _kind(kind: GroupVersionKind) -> Object:
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}


def _resource(resource: GroupVersionResource) -> Object:
    return {
        "group": resource.group,
        "version": resource.version,
        "resource": resource.resource,
    }
