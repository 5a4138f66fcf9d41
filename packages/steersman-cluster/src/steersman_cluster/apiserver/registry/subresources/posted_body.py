"""Decoding and mutating admission of objects that are POSTed to a subresource, not stored."""

from steersman.units import format_time
from steersman_cluster.apiserver.builtin.cluster.namespaces import check_namespace
from steersman_cluster.apiserver.meta import object_meta
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.registry.bodies import read_body
from steersman_cluster.apiserver.registry.request_scope import RequestScope
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.options import WriteOptions


def mutated(request: APIRequest, scope: RequestScope, obj: Object, options: WriteOptions) -> Object:
    """Return ``obj`` after mutating admission."""
    if scope.admission.is_idle:
        return obj
    manager = options.field_manager or request.agent
    scope.field_manager(request).update(
        None, obj, manager=manager, time=format_time(scope.store.clock.now())
    )
    return scope.admission.mutated(request, obj, None)


def read_post(request: APIRequest, scope: RequestScope) -> tuple[Object, WriteOptions]:
    """Return the object in the body, with the request's namespace, and the write options."""
    options = WriteOptions.of(request.info, kind="CreateOptions")
    obj = read_body(request, scope, options, request.content_type)
    info = request.info
    object_meta.set_namespace(obj["metadata"], info.namespace)
    check_namespace(
        scope.store,
        info.namespace,
        resource=request.served.group_resource,
        name=info.name,
        creating=True,
    )
    return obj, options
