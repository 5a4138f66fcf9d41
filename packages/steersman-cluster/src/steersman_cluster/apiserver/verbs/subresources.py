"""Subresources: the status of an object, its scale, and the few actions that are POSTed."""

from collections.abc import Callable, Mapping

import msgspec

from steersman.names import GroupResource
from steersman_cluster.apiserver import refusals
from steersman_cluster.apiserver.asking.call import Answer, Call
from steersman_cluster.apiserver.asking.options import WriteOptions
from steersman_cluster.apiserver.asking.posting import changed, read_post
from steersman_cluster.apiserver.builtin.pods.pods import bound, check_binding
from steersman_cluster.apiserver.rules import Object
from steersman_cluster.apiserver.storage import Entry
from steersman_cluster.apiserver.verbs import kubelets, reading, scaling, writing
from steersman_cluster.apiserver.verbs.evicting import evict
from steersman_cluster.apiserver.verbs.token_requests import request_token

BINDINGS = GroupResource("", "bindings")
_NODES = GroupResource("", "nodes")


def _get(call: Call) -> Answer:
    return Answer(200, reading.get(call))


def _there(call: Call) -> Entry:
    entry = call.entry()
    if entry is None:
        raise refusals.not_found(call.served.group_resource, call.asked.name)
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
        raise refusals.bad_request("Name parameter required.")
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
    "update": writing.update,
    "patch": writing.patch,
}
SUBRESOURCES: Mapping[str, Mapping[str, Callable[[Call], Answer]]] = {
    "approval": _WHOLE,
    "attach": {"create": kubelets.attach, "get": kubelets.attach},
    "binding": {"create": _bind},
    "ephemeralcontainers": _WHOLE,
    "eviction": {"create": _evict},
    "exec": {"create": kubelets.execute, "get": kubelets.execute},
    "finalize": {"update": writing.update},
    "log": {"get": kubelets.log},
    "portforward": {"create": kubelets.forward_ports, "get": kubelets.forward_ports},
    "resize": _WHOLE,
    "scale": {"get": scaling.get, "update": scaling.update, "patch": scaling.patch},
    "status": _WHOLE,
    "token": {"create": request_token},
}
