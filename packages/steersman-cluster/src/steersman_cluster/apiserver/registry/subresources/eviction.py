"""POST of an Eviction, which deletes the Pod if its disruption budget permits that."""

from dataclasses import replace

from steersman.units import format_time
from steersman_cluster.apiserver.builtin.pods.pods import eviction_options
from steersman_cluster.apiserver.builtin.workloads.disruptions import (
    BUDGETS,
    charged_budget,
    marked_disrupted,
)
from steersman_cluster.apiserver.meta import object_meta, status_errors
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.users import ADMINISTRATORS, AUTHENTICATED, User
from steersman_cluster.apiserver.registry import deletion, writer
from steersman_cluster.apiserver.registry.request_scope import RequestScope
from steersman_cluster.apiserver.registry.subresources.posted_body import mutated, read_post
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.delete_options import DeleteOptions
from steersman_cluster.apiserver.request.options import WriteOptions
from steersman_cluster.apiserver.request.request_info import RequestInfo
from steersman_cluster.apiserver.storage import Entry

# The server's own user and its groups.
_SERVER = "kube-apiserver"
_SERVER_USER = "system:apiserver"
_SERVER_GROUPS = (AUTHENTICATED, ADMINISTRATORS)


def evict(request: APIRequest, scope: RequestScope) -> None:
    """Charge the Pod's budget, set the Pod's condition DisruptionTarget, and delete the Pod."""
    eviction, written = read_post(request, scope)
    eviction = mutated(request, scope, eviction, written)
    options = DeleteOptions.written(eviction_options(eviction, request.info.name))
    options = replace(options, dry_run=options.dry_run or written.dry_run)
    scope.admission.check(request, eviction, None)
    entry = scope.entry(request)
    if entry is None:
        raise status_errors.not_found(request.served.group_resource, request.info.name)
    pod, now = entry.value or {}, scope.store.clock.now()
    budgets = scope.store.every(BUDGETS, namespace=request.info.namespace)
    charged = charged_budget(pod, budgets, now=now)
    if not options.dry_run:
        if charged is not None:
            _write_budget(request, scope, charged, written)
        entry = _marked(request, scope, entry, options)
        options = replace(options, uid=None, resource_version=None)
    deletion.delete(scope.store, request.served, entry, options)


def _write_budget(
    request: APIRequest, scope: RequestScope, charged: Object, options: WriteOptions
) -> None:
    about = charged["metadata"]
    info = RequestInfo(
        verb="update",
        path="",
        group=BUDGETS.group,
        version="v1",
        resource=BUDGETS.resource,
        subresource="status",
        namespace=about["namespace"],
        name=about["name"],
    )
    budget = scope.request_for(request, info)
    if (entry := scope.entry(budget)) is not None:
        time = format_time(scope.store.clock.now())
        scope.field_manager(budget).update(budget.live(entry), charged, manager=_SERVER, time=time)
        if not scope.admission.is_idle:
            # kube-apiserver's own user has a new UID after each start.
            uid = object_meta.new_uid(scope.store.rng)
            budget.user = User(name=_SERVER_USER, uid=uid, groups=_SERVER_GROUPS)
            charged = scope.admission.mutated(budget, charged, budget.live(entry))
        writer.replace(budget, scope, entry, charged, options)


def _marked(
    request: APIRequest, scope: RequestScope, entry: Entry, options: DeleteOptions
) -> Entry:
    pod = entry.value or {}
    # In this error kube-apiserver names the kind instead of the resource.
    options.check(pod, replace(request.served, plural=request.served.gvk.kind))
    marked = marked_disrupted(pod, now=scope.store.clock.now())
    if marked == pod:
        return entry
    return scope.store.write(entry.key, marked, strategy=request.served.strategy, replacing=entry)
