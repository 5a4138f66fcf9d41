"""What is POSTed to a subresource, read and checked as far as all of them do it."""

from steersman.apiserver import metadata
from steersman.apiserver.asking.bodies import read_body
from steersman.apiserver.asking.call import Call
from steersman.apiserver.asking.options import WriteOptions
from steersman.apiserver.builtin.namespaces import check_namespace
from steersman.apiserver.rules import Object


def read_post(call: Call) -> tuple[Object, WriteOptions]:
    """The object in the body, in the namespace of the request, and how it is to be taken."""
    options = WriteOptions.of(call.asked, kind="CreateOptions")
    obj = read_body(call, options, call.content_type)
    asked = call.asked
    metadata.set_namespace(obj["metadata"], asked.namespace)
    check_namespace(
        call.store,
        asked.namespace,
        resource=call.served.group_resource,
        name=asked.name,
        creating=True,
    )
    return obj, options
