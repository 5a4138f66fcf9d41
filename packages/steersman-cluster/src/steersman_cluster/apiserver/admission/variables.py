"""The values of the variables that admission expressions can use."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from steersman_cluster.apiserver.admission.admission_requests import request_of
from steersman_cluster.apiserver.admission.attributes import Attributes
from steersman_cluster.apiserver.admission.matcher import MatchedResource
from steersman_cluster.apiserver.cel import Authorizer, ResourceCheck
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.meta.users import User

# The authorizer of a user, as expressions use it.
Authorizers: TypeAlias = Callable[[User], Authorizer]


def values_of(
    wanted: Attributes,
    seen: Attributes,
    place: MatchedResource,
    *,
    authorizers: Authorizers,
    namespace: Object | None = None,
    params: Object | None = None,
) -> Mapping[str, Any]:
    """Return the values; ``seen`` is ``wanted`` with objects in the version of ``place``."""
    request = request_of(seen, place)
    del request["object"], request["oldObject"]
    who = authorizers(wanted.user)
    about = {
        "group": wanted.resource.group,
        "resource": wanted.resource.resource,
        "subresource": wanted.subresource,
        "namespace": wanted.namespace,
        "name": wanted.name,
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
