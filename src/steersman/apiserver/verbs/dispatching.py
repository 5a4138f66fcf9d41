"""Which verb of which resource: from a call to the function that answers it."""

from collections.abc import AsyncGenerator, Callable, Mapping

from steersman.apiserver import refusals, rendering
from steersman.apiserver.asking.asked import Asked
from steersman.apiserver.asking.call import Answer, Call
from steersman.apiserver.asking.delete_options import DeleteOptions
from steersman.apiserver.asking.options import ListOptions
from steersman.apiserver.refusals import Refusal
from steersman.apiserver.served import Served
from steersman.apiserver.verbs import deleting, reading, writing
from steersman.apiserver.verbs.subresources import BINDINGS, SUBRESOURCES, bind_by_name
from steersman.apiserver.verbs.watching import watch


def not_allowed() -> Refusal:
    """The resource is there, and cannot do that."""
    return Refusal(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        details={},
    )


def check_place(asked: Asked, served: Served) -> None:
    """A resource is served in namespaces or outside of them, and a subresource where it is one."""
    if asked.subresource and asked.subresource not in served.subresources:
        if served.custom:
            raise refusals.not_found(served.group_resource, asked.name)
        raise refusals.no_such_path()
    if asked.subresource and asked.subresource not in SUBRESOURCES:
        raise not_allowed()  # what only a kubelet, or somebody in a container, could answer
    if asked.rest:
        raise refusals.no_such_path()
    if served.namespaced:
        if asked.name and not asked.namespace:
            raise refusals.no_such_path()
        if not asked.namespace and asked.verb not in ("list", "watch"):
            raise not_allowed()
    elif asked.namespace and served.plural != "namespaces":
        raise refusals.no_such_path()
    if not asked.name and asked.verb in ("update", "patch"):
        raise not_allowed()


def dispatch(call: Call) -> Answer | AsyncGenerator[bytes, None]:
    """Answer a call whose place has been checked; a watch answers with its lines."""
    asked, served = call.asked, call.served
    if call.request.method == "HEAD":
        raise not_allowed()
    if asked.subresource:
        answering = SUBRESOURCES.get(asked.subresource, {}).get(asked.verb)
        if answering is None or asked.verb not in served.subresources[asked.subresource]["verbs"]:
            if served.custom:
                raise refusals.method_not_allowed(served.group_resource, asked.verb)
            raise not_allowed()
        return answering(call)
    if asked.verb not in served.verbs:
        raise not_allowed()
    if asked.verb == "watch":
        return watch(call.store, served, asked)
    if asked.verb not in VERBS or (asked.verb == "create" and asked.name):
        raise not_allowed()
    if served.group_resource == BINDINGS:
        return bind_by_name(call)
    return VERBS[asked.verb](call)


def _get(call: Call) -> Answer:
    return Answer(200, reading.get(call.store, call.served, call.asked))


def _list(call: Call) -> Answer:
    return Answer(200, reading.list_(call.store, call.served, call.asked))


def _delete(call: Call) -> Answer:
    options = call.delete_options()
    _warn_of_orphans(call, options)
    entry = call.entry()
    if entry is None:
        raise refusals.not_found(call.served.group_resource, call.asked.name)
    deletion = deleting.delete(call.store, call.served, entry, options)
    accepted = not deletion.gone and options.orphan_dependents is False
    return Answer(202 if accepted else 200, deleting.answer(deletion, call.served))


def _delete_collection(call: Call) -> Answer:
    listed = ListOptions.of(call.asked)
    options = call.delete_options()
    page = reading.selected_page(call.store, call.served, call.asked, listed)
    _warn_of_orphans(call, options)
    about = reading.list_metadata(page, call.served, call.asked, listed)
    for entry in page.entries:
        # The page may be of another moment, and what it lists be changed or gone by now.
        current = call.store.view.get(entry.key)
        if current is not None:
            deleting.delete(call.store, call.served, current, options)
    return Answer(200, rendering.many(page.entries, call.served, metadata=about))


def _warn_of_orphans(call: Call, options: DeleteOptions) -> None:
    warning = call.served.rules.orphan_warning
    if warning and not options.names_policy:
        call.warnings.append(warning)


VERBS: Mapping[str, Callable[[Call], Answer]] = {
    "get": _get,
    "list": _list,
    "create": writing.create,
    "update": writing.update,
    "patch": writing.patch,
    "delete": _delete,
    "deletecollection": _delete_collection,
}
