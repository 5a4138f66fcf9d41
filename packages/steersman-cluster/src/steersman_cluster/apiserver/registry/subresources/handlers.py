"""Subresources: the status of an object, its scale, and the few actions that are POSTed."""

from collections.abc import Callable, Mapping

import msgspec

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.pods.pods import bound, check_binding
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.registry import reader, writer
from steersman_cluster.apiserver.registry.call import Answer, Call
from steersman_cluster.apiserver.registry.subresources import kubelet_proxy, scale
from steersman_cluster.apiserver.registry.subresources.eviction import evict
from steersman_cluster.apiserver.registry.subresources.posted_body import changed, read_post
from steersman_cluster.apiserver.registry.subresources.token_requests import request_token
from steersman_cluster.apiserver.request.options import WriteOptions
from steersman_cluster.apiserver.storage import Entry

BINDINGS = GroupResource("", "bindings")
_NODES = GroupResource("", "nodes")


def _get(call: Call) -> Answer:
    return Answer(200, reader.get(call))


def _there(call: Call) -> Entry:
    entry = call.entry()
    if entry is None:
        raise status_errors.not_found(call.served.group_resource, call.asked.name)
    return entry


def _bind(call: Call) -> Answer:
    """POST of a Binding: the Pod runs on that node from now on."""
    binding, options = read_post(call)
    binding = changed(call, binding, options)
    check_binding(binding, call.asked.name)
    call.admission.check(call, binding, None)
    return _bound(call, binding, options)


def _bound(call: Call, binding: Object, options: WriteOptions) -> Answer:
    entry = _there(call)
    node = call.store.find(_NODES, "", binding["target"].get("name", ""))
    pod = bound(call.live(entry), binding, node=node, now=call.store.clock.now())
    if not options.dry_run:
        call.store.write(entry.key, pod, rules=call.served.rules, replacing=entry)
    return _created(call)


def bind_by_name(call: Call) -> Answer:
    """POST of a Binding as if it were an object: its name says which Pod is meant."""
    binding, options = read_post(call)
    binding = changed(call, binding, options)
    if not (name := binding["metadata"].get("name")):
        raise status_errors.bad_request("Name parameter required.")
    pod = msgspec.structs.replace(call.asked, resource="pods", name=name, subresource="binding")
    check_binding(binding, name)
    call.admission.check(call, binding, None)
    return _bound(call.elsewhere(pod), binding, options)


def _evict(call: Call) -> Answer:
    evict(call)
    return _created(call)


def _created(call: Call) -> Answer:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }
    return Answer(201, call.form.unchanged(status))


# Of those that show the whole object.
_WHOLE: Mapping[str, Callable[[Call], Answer]] = {
    "get": _get,
    "update": writer.update,
    "patch": writer.patch,
}
SUBRESOURCES: Mapping[str, Mapping[str, Callable[[Call], Answer]]] = {
    "approval": _WHOLE,
    "attach": {"create": kubelet_proxy.attach, "get": kubelet_proxy.attach},
    "binding": {"create": _bind},
    "ephemeralcontainers": _WHOLE,
    "eviction": {"create": _evict},
    "exec": {"create": kubelet_proxy.execute, "get": kubelet_proxy.execute},
    "finalize": {"update": writer.update},
    "log": {"get": kubelet_proxy.log},
    "portforward": {"create": kubelet_proxy.forward_ports, "get": kubelet_proxy.forward_ports},
    "resize": _WHOLE,
    "scale": {"get": scale.get, "update": scale.update, "patch": scale.patch},
    "status": _WHOLE,
    "token": {"create": request_token},
}
