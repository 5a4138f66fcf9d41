"""Watch: every change of the selected objects after a revision, once and in order."""

from collections.abc import AsyncGenerator, Iterable

from steersman_cluster.apiserver.meta.status_errors import StatusError, expired
from steersman_cluster.apiserver.registry.reader import (
    Selects,
    prefix_of,
    selection,
    too_large_version,
    version_or_failure,
)
from steersman_cluster.apiserver.registry.request_scope import RequestScope
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.options import ListOptions
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.request.response_encoders import WatchEncoder
from steersman_cluster.apiserver.storage import Compacted, Entry
from steersman_cluster.apiserver.webhooks import NeedsWebhook

# A watch without a timeout ends after one to two times this time, at random, so that clients do not
# reconnect all at once.
MIN_SECONDS = 1800.0

# How long before the end of a watch the server sends the last bookmark.
LAST_BOOKMARK_SECONDS = 2.0


def watch(request: APIRequest, scope: RequestScope) -> AsyncGenerator[bytes, None]:
    """Return the lines of a watch; an invalid request is rejected before the first line."""
    store, served, info = scope.store, request.served, request.info
    options = ListOptions.of(info)
    selects = selection(served, options)
    version = version_or_failure(options.resource_version) if options.resource_version else 0
    prefix = prefix_of(served, info)
    seconds = float(options.timeout_seconds or 0) or MIN_SECONDS * (1 + store.rng.random())
    if (lines := request.encoder.lines()) is None:
        return _nothing()
    return _events(request, scope, lines, options, selects, version, prefix, seconds)


async def _nothing() -> AsyncGenerator[bytes, None]:
    return
    yield b""


async def _events(
    request: APIRequest,
    scope: RequestScope,
    lines: WatchEncoder,
    options: ListOptions,
    selects: Selects | None,
    version: int,
    prefix: str,
    seconds: float,
) -> AsyncGenerator[bytes, None]:
    store, served = scope.store, request.served
    clock, view, change_signal = store.clock, store.view, store.change_signal(served.stored_as)
    ends_at = clock.monotonic() + seconds
    position = version or view.revision
    initial = options.send_initial_events
    try:
        view.check(position)
    except Compacted as gone:
        yield request.encoder.failure(_too_old(gone).status())
        return
    if initial and position > view.revision:
        yield request.encoder.failure(too_large_version(position, view.revision).status())
        return
    if initial or (initial is None and version == 0):
        position = view.revision
        page = view.page(served.stored_as, prefix=prefix)
        if served.converts_by_webhook:
            await _prefetch(request, scope, page.entries, prefix)
        chosen = [each for each in page.entries if selects is None or selects(each)]
        if chosen:
            yield b"".join([lines.event(b"ADDED", each, served) for each in chosen])
        if options.bookmarks:
            yield lines.bookmark(position, served, initial_events_end=True)
    bookmark_at = last_bookmark_at = ends_at
    if options.bookmarks:
        bookmark_at = clock.monotonic() + store.bookmark_seconds
        last_bookmark_at = ends_at - LAST_BOOKMARK_SECONDS
    due_at = min(ends_at, bookmark_at, last_bookmark_at)
    while True:
        try:
            entries = view.since(position, served.stored_as)
        except Compacted as gone:
            yield request.encoder.failure(_too_old(gone).status())
            return
        position = max(position, view.revision)  # a watch from a future revision waits
        if served.converts_by_webhook:
            await _prefetch(request, scope, entries, prefix)
        if entries and (changes := list(_changes(entries, served, lines, selects, prefix))):
            yield b"".join(changes)
            continue  # more changes may have arrived while these were sent
        now = clock.monotonic()
        if now >= ends_at or change_signal.is_closed:
            return
        if now >= due_at:
            yield lines.bookmark(position, served, initial_events_end=False)
            if now >= last_bookmark_at:
                last_bookmark_at = ends_at
            bookmark_at = now + store.bookmark_seconds
            due_at = min(ends_at, bookmark_at, last_bookmark_at)
            continue
        try:
            async with clock.timeout(due_at - now):
                await change_signal.wait()
        except TimeoutError:
            continue


async def _prefetch(
    request: APIRequest, scope: RequestScope, entries: Iterable[Entry], prefix: str
) -> None:
    """Convert the objects of all entries that the watch may send, and the objects they replaced."""
    request.webhook_responses.clear()  # a watch may last for hours
    near = [each for each in entries if each.key.place.startswith(prefix)]
    both = [*near, *(each.previous for each in near if each.previous is not None)]
    while True:
        try:
            object_encoder.prefetch(
                (each for each in both if each.value is not None), request.served
            )
        except NeedsWebhook as missing:
            await scope.webhooks.fetch(missing, request.webhook_responses)
        else:
            return


def _changes(
    entries: Iterable[Entry],
    served: ServedResource,
    lines: WatchEncoder,
    selects: Selects | None,
    prefix: str,
) -> Iterable[bytes]:
    """Yield the events of the entries for a watch with the predicate ``selects``.

    An object that begins to match is ADDED. An object that no longer matches is DELETED, with its
    last matching state.
    """
    for entry in entries:
        if prefix and not entry.key.place.startswith(prefix):
            continue
        was = entry.previous is not None and _shows(entry.previous, selects)
        if _shows(entry, selects):
            yield lines.event(b"MODIFIED" if was else b"ADDED", entry, served)
        elif was:
            yield lines.deleted(entry, served)


def _shows(entry: Entry, selects: Selects | None) -> bool:
    return entry.value is not None and (selects is None or selects(entry))


def _too_old(gone: Compacted) -> StatusError:
    return expired(f"too old resource version: {gone.wanted} ({gone.compacted})")
