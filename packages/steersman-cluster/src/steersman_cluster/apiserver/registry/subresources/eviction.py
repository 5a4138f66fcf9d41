"""POST of an Eviction: the Pod is deleted, if its disruption budget has something left."""

from dataclasses import replace

from steersman.units import format_time
from steersman_cluster.apiserver.builtin.pods.pods import eviction_options
from steersman_cluster.apiserver.builtin.workloads.disruptions import (
    BUDGETS,
    charged_budget,
    marked_disrupted,
)
from steersman_cluster.apiserver.meta import object_meta, status_errors
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.meta.users import ADMINISTRATORS, AUTHENTICATED, User
from steersman_cluster.apiserver.registry import deletion, writer
from steersman_cluster.apiserver.registry.call import Call
from steersman_cluster.apiserver.registry.subresources.posted_body import changed, read_post
from steersman_cluster.apiserver.request.delete_options import DeleteOptions
from steersman_cluster.apiserver.request.options import WriteOptions
from steersman_cluster.apiserver.request.request_info import Asked
from steersman_cluster.apiserver.storage import Entry

# As whom the server writes itself.
_SERVER = "kube-apiserver"
_SERVER_USER = "system:apiserver"
_SERVER_GROUPS = (AUTHENTICATED, ADMINISTRATORS)


def evict(call: Call) -> None:
    """Charge the budget, say in the Pod why it ends, and delete it."""
    eviction, written = read_post(call)
    eviction = changed(call, eviction, written)
    options = DeleteOptions.written(eviction_options(eviction, call.asked.name))
    options = replace(options, dry_run=options.dry_run or written.dry_run)
    call.admission.check(call, eviction, None)
    entry = call.entry()
    if entry is None:
        raise status_errors.not_found(call.served.group_resource, call.asked.name)
    pod, now = entry.value or {}, call.store.clock.now()
    budgets = call.store.every(BUDGETS, namespace=call.asked.namespace)
    charged = charged_budget(pod, budgets, now=now)
    if not options.dry_run:
        if charged is not None:
            _write_budget(call, charged, written)
        entry = _marked(call, entry, options)
        options = replace(options, uid=None, resource_version=None)
    deletion.delete(call.store, call.served, entry, options)


def _write_budget(call: Call, charged: Object, options: WriteOptions) -> None:
    about = charged["metadata"]
    asked = Asked(
        verb="update",
        path="",
        group=BUDGETS.group,
        version="v1",
        resource=BUDGETS.resource,
        subresource="status",
        namespace=about["namespace"],
        name=about["name"],
    )
    budget = call.elsewhere(asked)
    if (entry := budget.entry()) is not None:
        time = format_time(call.store.clock.now())
        budget.management.update(budget.live(entry), charged, manager=_SERVER, time=time)
        if not call.admission.is_idle:
            uid = object_meta.new_uid(call.store.rng)  # another one for each start of a real server
            budget.user = User(name=_SERVER_USER, uid=uid, groups=_SERVER_GROUPS)
            charged = budget.admission.mutated(budget, charged, budget.live(entry))
        writer.replace(budget, entry, charged, options)


def _marked(call: Call, entry: Entry, options: DeleteOptions) -> Entry:
    pod = entry.value or {}
    # Here the server names the kind where it otherwise names the resource.
    options.check(pod, replace(call.served, plural=call.served.gvk.kind))
    marked = marked_disrupted(pod, now=call.store.clock.now())
    if marked == pod:
        return entry
    return call.store.write(entry.key, marked, rules=call.served.rules, replacing=entry)
