"""Watch: everything that happens to some objects from a revision on, each change once, in order."""

from collections.abc import AsyncGenerator, Iterable

from steersman_cluster.apiserver.meta.status_errors import Refusal, expired
from steersman_cluster.apiserver.registry.call import Call
from steersman_cluster.apiserver.registry.reader import (
    Selects,
    prefix_of,
    selection,
    too_large_version,
    version_or_failure,
)
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.options import ListOptions
from steersman_cluster.apiserver.request.resources import Served
from steersman_cluster.apiserver.request.response_encoders import Lines
from steersman_cluster.apiserver.storage import Compacted, Entry
from steersman_cluster.apiserver.webhooks import Unanswered

# A watch without a timeout of its own ends after this long and up to twice as long, at random, so
# that not everybody comes back at once.
SHORTEST_SECONDS = 1800.0

# How long before the end of a watch its last bookmark comes.
LAST_BOOKMARK_SECONDS = 2.0


def watch(call: Call) -> AsyncGenerator[bytes, None]:
    """The lines of a watch; what is wrong with the question is refused before the first."""
    store, served, asked = call.store, call.served, call.asked
    options = ListOptions.of(asked)
    selects = selection(served, options)
    version = version_or_failure(options.resource_version) if options.resource_version else 0
    prefix = prefix_of(served, asked)
    seconds = float(options.timeout_seconds or 0) or SHORTEST_SECONDS * (1 + store.rng.random())
    if (lines := call.form.lines()) is None:
        return _nothing()
    return _told(call, lines, options, selects, version, prefix, seconds)


async def _nothing() -> AsyncGenerator[bytes, None]:
    return
    yield b""


async def _told(
    call: Call,
    lines: Lines,
    options: ListOptions,
    selects: Selects | None,
    version: int,
    prefix: str,
    seconds: float,
) -> AsyncGenerator[bytes, None]:
    store, served = call.store, call.served
    clock, view, bell = store.clock, store.view, store.bell(served.stored_as)
    ends_at = clock.monotonic() + seconds
    position = version or view.revision
    initial = options.send_initial_events
    try:
        view.check(position)
    except Compacted as gone:
        yield call.form.failure(_too_old(gone).status())
        return
    if initial and position > view.revision:
        yield call.form.failure(too_large_version(position, view.revision).status())
        return
    if initial or (initial is None and version == 0):
        position = view.revision
        page = view.page(served.stored_as, prefix=prefix)
        if served.asks_outside:
            await _ahead(call, page.entries, prefix)
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
            yield call.form.failure(_too_old(gone).status())
            return
        position = max(position, view.revision)  # whoever asked from the future waits for it
        if served.asks_outside:
            await _ahead(call, entries, prefix)
        if entries and (changes := list(_changes(entries, served, lines, selects, prefix))):
            yield b"".join(changes)
            continue  # while those were sent, more may have come
        now = clock.monotonic()
        if now >= ends_at or bell.is_last:
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
                await bell.wait()
        except TimeoutError:
            continue


async def _ahead(call: Call, entries: Iterable[Entry], prefix: str) -> None:
    """See to it that each entry that may be shown can be, and what it replaced."""
    call.known.clear()  # a watch may last for hours
    near = [each for each in entries if each.key.place.startswith(prefix)]
    both = [*near, *(each.previous for each in near if each.previous is not None)]
    while True:
        try:
            object_encoder.ahead((each for each in both if each.value is not None), call.served)
        except Unanswered as missing:
            await call.learn(missing, call.known)
        else:
            return


def _changes(
    entries: Iterable[Entry],
    served: Served,
    lines: Lines,
    selects: Selects | None,
    prefix: str,
) -> Iterable[bytes]:
    """What the entries mean to someone who sees only the objects that ``selects`` does.

    An object that begins to match is new to them, and one that no longer does is gone, as it was
    when it last matched.
    """
    for entry in entries:
        if prefix and not entry.key.place.startswith(prefix):
            continue
        was = entry.previous is not None and _shows(entry.previous, selects)
        if _shows(entry, selects):
            yield lines.event(b"MODIFIED" if was else b"ADDED", entry, served)
        elif was:
            yield lines.departure(entry, served)


def _shows(entry: Entry, selects: Selects | None) -> bool:
    return entry.value is not None and (selects is None or selects(entry))


def _too_old(gone: Compacted) -> Refusal:
    return expired(f"too old resource version: {gone.wanted} ({gone.compacted})")
