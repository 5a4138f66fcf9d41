"""Which verb of which resource: from a call to the function that answers it."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.status_errors import Refusal
from steersman_cluster.apiserver.registry import deletion, reader, writer
from steersman_cluster.apiserver.registry.call import Answer, Call
from steersman_cluster.apiserver.registry.subresources import component_statuses
from steersman_cluster.apiserver.registry.subresources.component_statuses import COMPONENT_STATUSES
from steersman_cluster.apiserver.registry.subresources.handlers import (
    BINDINGS,
    SUBRESOURCES,
    bind_by_name,
)
from steersman_cluster.apiserver.registry.watcher import watch
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.delete_options import DeleteOptions
from steersman_cluster.apiserver.request.options import ListOptions
from steersman_cluster.apiserver.request.request_info import Asked
from steersman_cluster.apiserver.request.resources import Served
from steersman_cluster.apiserver.storage import Entry
from steersman_cluster.apiserver.webhooks import Inquiry, Unanswered


def not_allowed() -> Refusal:
    """The resource is there, and cannot do that."""
    return Refusal(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        details={},
    )


def is_out_of_scope(asked: Asked, served: Served) -> bool:
    """Whether a custom resource is asked for in a namespace and has none, or the other way around.

    The handler of custom resources then passes the request on, and no other takes it.
    """
    if not served.custom:
        return False
    if served.namespaced:
        return not asked.namespace and asked.verb not in ("list", "watch")
    return bool(asked.namespace)


def check_place(asked: Asked, served: Served) -> None:
    """A resource is served in namespaces or outside of them, and a subresource where it is one."""
    if asked.subresource and asked.subresource not in served.subresources:
        if served.custom:
            raise status_errors.not_found(served.group_resource, asked.name)
        raise status_errors.no_such_path()
    if asked.subresource and asked.subresource not in SUBRESOURCES:
        raise not_allowed()  # what only a kubelet, or somebody in a container, could answer
    if asked.rest and not served.custom:
        raise status_errors.no_such_path()
    if asked.verb == "watch" and "watch" not in served.verbs and "watch" not in asked.query:
        raise status_errors.no_such_path()  # what cannot be watched has no path for it
    if served.namespaced:
        if asked.name and not asked.namespace:
            raise status_errors.no_such_path()
        if not asked.namespace and asked.verb not in ("list", "watch"):
            raise not_allowed()
    elif asked.namespace and served.plural != "namespaces":
        raise status_errors.no_such_path()
    if not asked.name and asked.verb in ("update", "patch"):
        raise status_errors.bad_request("name must be provided") if served.custom else not_allowed()


def dispatch(call: Call) -> Answer | AsyncGenerator[bytes, None]:
    """Answer a call whose place has been checked; a watch answers with its lines."""
    asked, served = call.asked, call.served
    if served.rules.kept_seconds is not None:
        call.store.let_go(served.stored_as, rules=served.rules)
    if call.request.method == "HEAD" and not served.custom:
        raise not_allowed()
    if asked.subresource:
        answering = SUBRESOURCES.get(asked.subresource, {}).get(asked.verb)
        if answering is None or asked.verb not in served.subresources[asked.subresource]["verbs"]:
            if served.custom:
                raise status_errors.method_not_allowed(served.group_resource, asked.verb)
            raise not_allowed()
        return answering(call)
    if asked.verb not in served.verbs:
        if asked.verb == "watch" and "list" in served.verbs:
            raise status_errors.method_not_allowed(served.group_resource, asked.verb)
        raise not_allowed()
    if asked.verb == "watch":
        if call.request.method != "GET":
            raise not_allowed()
        return watch(call)
    if asked.verb not in VERBS:
        raise not_allowed()
    if asked.verb == "create" and asked.name and not served.custom:
        raise not_allowed()  # a custom resource is created by the name in its body
    return _UNKEPT.get(served.group_resource, VERBS)[asked.verb](call)


def _get(call: Call) -> Answer:
    return Answer(200, reader.get(call))


def _list(call: Call) -> Answer:
    return Answer(200, reader.list_(call))


def _delete(call: Call) -> Answer:
    options = call.delete_options()
    _warn_of_orphans(call, options)
    entry = call.entry()
    if entry is None:
        raise status_errors.not_found(call.served.group_resource, call.asked.name)
    _check_convertible(call, [entry])
    deletion.admit(call, entry, options)
    deleted = deletion.delete(call.store, call.served, entry, options)
    accepted = not deleted.gone and options.orphan_dependents is False
    return Answer(202 if accepted else 200, deletion.answer(deleted, call.served, call.form))


def _delete_collection(call: Call) -> Answer:
    listed = ListOptions.of(call.asked)
    options = call.delete_options()
    reader.selection(call.served, listed)  # what is wrong with it is said without a warning
    _warn_of_orphans(call, options)
    page = reader.selected_page(call.store, call.served, call.asked, listed)
    about = reader.list_metadata(page, call.served, call.asked, listed)
    _check_convertible(call, page.entries)
    # The page may be of another moment, and what it lists be changed or gone by now.
    entries = [each for entry in page.entries if (each := call.store.view.get(entry.key))]
    _ask_about(call, entries, options)
    for entry in entries:
        deletion.admit(call, entry, options)
        deletion.delete(call.store, call.served, entry, options)
    return Answer(200, call.form.many(page.entries, call.served, metadata=about))


def _check_convertible(call: Call, entries: Sequence[Entry]) -> None:
    """Refuse to delete what cannot be shown in the version of the request."""
    if call.served.asks_outside:
        object_encoder.ahead(entries, call.served)
        for entry in entries:
            call.live(entry)


def _ask_about(call: Call, entries: list[Entry], options: DeleteOptions) -> None:
    """Have all deletions judged before the first is made; up to the first that is refused."""
    if call.admission.is_idle:
        return
    missing: list[Inquiry] = []
    said = len(call.warnings)
    for entry in entries:
        try:
            deletion.admit(call, entry, options)
        except Unanswered as unanswered:
            missing += unanswered.inquiries
        except Refusal:
            break
    if missing:
        raise Unanswered(missing)
    del call.warnings[said:]


def _warn_of_orphans(call: Call, options: DeleteOptions) -> None:
    warning = call.served.rules.orphan_warning
    if warning and not options.names_policy:
        call.warnings.append(warning)


VERBS: Mapping[str, Callable[[Call], Answer]] = {
    "get": _get,
    "list": _list,
    "create": writer.create,
    "update": writer.update,
    "patch": writer.patch,
    "delete": _delete,
    "deletecollection": _delete_collection,
}

# What is answered from no store.
_UNKEPT: Mapping[GroupResource, Mapping[str, Callable[[Call], Answer]]] = {
    BINDINGS: {"create": bind_by_name},
    COMPONENT_STATUSES: {"get": component_statuses.get, "list": component_statuses.list_},
}
