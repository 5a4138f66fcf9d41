"""What is POSTed to a subresource, read and checked as far as all of them do it."""

from steersman.units import format_time
from steersman_cluster.apiserver.builtin.cluster.namespaces import check_namespace
from steersman_cluster.apiserver.meta import object_meta
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.registry.bodies import read_body
from steersman_cluster.apiserver.registry.call import Call
from steersman_cluster.apiserver.request.options import WriteOptions


def changed(call: Call, obj: Object, options: WriteOptions) -> Object:
    """What webhooks make of something that is POSTed and never kept."""
    if call.admission.is_idle:
        return obj
    manager = options.field_manager or call.agent
    call.management.update(None, obj, manager=manager, time=format_time(call.store.clock.now()))
    return call.admission.mutated(call, obj, None)


def read_post(call: Call) -> tuple[Object, WriteOptions]:
    """The object in the body, in the namespace of the request, and how it is to be taken."""
    options = WriteOptions.of(call.asked, kind="CreateOptions")
    obj = read_body(call, options, call.content_type)
    asked = call.asked
    object_meta.set_namespace(obj["metadata"], asked.namespace)
    check_namespace(
        call.store,
        asked.namespace,
        resource=call.served.group_resource,
        name=asked.name,
        creating=True,
    )
    return obj, options
