"""The values of the variables that CEL expressions of admission can use."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from steersman_cluster.apiserver.admission.admission_requests import request_of
from steersman_cluster.apiserver.admission.attributes import AdmissionAttributes
from steersman_cluster.apiserver.admission.matcher import MatchedResource
from steersman_cluster.apiserver.cel import CelAuthorizer, ResourceCheck
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.users import User

# The authorizer of a user, as expressions use it.
Authorizers: TypeAlias = Callable[[User], CelAuthorizer]


def values_of(
    attributes: AdmissionAttributes,
    seen: AdmissionAttributes,
    matched: MatchedResource,
    *,
    authorizers: Authorizers,
    namespace: Object | None = None,
    params: Object | None = None,
) -> Mapping[str, Any]:
    """Return the value of each CEL variable by name.

    ``seen`` is ``attributes`` with the objects converted to the API version of ``matched``.
    """
    request = request_of(seen, matched)
    del request["object"], request["oldObject"]
    who = authorizers(attributes.user)
    about = {
        "group": attributes.resource.group,
        "resource": attributes.resource.resource,
        "subresource": attributes.subresource,
        "namespace": attributes.namespace,
        "name": attributes.name,
    }
    return {
        "object": seen.obj,
        "oldObject": seen.old,
        "namespaceObject": namespace,
        "request": request,
        "authorizer": who,
        "authorizer.requestResource": ResourceCheck(who, about),
        "params": params,
    }
