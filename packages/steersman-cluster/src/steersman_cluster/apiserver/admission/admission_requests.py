"""AdmissionRequests: a write request in the form in which reviews and expressions contain it."""

from steersman.names import GroupVersionKind, GroupVersionResource
from steersman_cluster.apiserver.admission.attributes import Attributes
from steersman_cluster.apiserver.admission.matcher import MatchedResource
from steersman_cluster.apiserver.meta.rules import Object


def request_of(wanted: Attributes, place: MatchedResource) -> Object:
    """Return the AdmissionRequest of ``wanted``, whose objects are in the version of ``place``."""
    user = wanted.user
    about: Object = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    if user.extra:
        about["extra"] = {name: list(values) for name, values in user.extra.items()}
    request: Object = {
        "kind": _kind(place.kind),
        "resource": _resource(place.resource),
        "subResource": wanted.subresource,
        "requestKind": _kind(wanted.kind),
        "requestResource": _resource(wanted.resource),
        "requestSubResource": wanted.subresource,
        "name": wanted.name,
        "namespace": wanted.namespace,
        "operation": wanted.operation,
        "userInfo": {name: value for name, value in about.items() if value},
        "object": wanted.obj,
        "oldObject": wanted.old,
        "dryRun": wanted.dry_run,
        "options": wanted.options,
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
