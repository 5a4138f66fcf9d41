"""Get and list: stored objects as of a revision; a list is one response or several pages."""

import base64
import binascii
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import msgspec

from steersman_cluster.apiserver.meta import field_errors, go_json, status_errors
from steersman_cluster.apiserver.registry.request_scope import RequestScope
from steersman_cluster.apiserver.registry.store import Store
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.options import EXACT, ListOptions
from steersman_cluster.apiserver.request.request_info import RequestInfo
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.request.selectors import parse_field_selector, parse_label_selector
from steersman_cluster.apiserver.storage import Compacted, Entry, Page

Selects: TypeAlias = Callable[[Entry], bool]

_TOKEN_VERSION = "meta.k8s.io/v1"  # noqa: S105 - of continue tokens

_TOO_OLD = "The provided continue parameter is too old to display a consistent list result. "
_START_AGAIN = "You can start a new list without the continue parameter"
_OR_GO_ON = (
    ", or use the continue token in this response to retrieve the remainder of the results."
    " Continuing with the provided token results in an inconsistent list - objects that were"
    " created, modified, or deleted between the time the first chunk was returned and now may"
    " show up in the list."
)

# Python rejects integers with thousands of digits.
_VERSION_LIMIT = 2**64
_MAX_DIGITS = len(str(_VERSION_LIMIT))

# A continue token with this revision continues with the current objects.
_NOW = -1


class Position(NamedTuple):
    """The position where a list continues: after the key ``after``, as of ``revision``."""

    after: str
    revision: int


def get(request: APIRequest, scope: RequestScope) -> bytes:
    """Return the requested object, encoded."""
    store, served, info = scope.store, request.served, request.info
    if info.flag("export"):
        raise status_errors.bad_request(
            "the export parameter, deprecated since v1.14, is no longer supported"
        )
    entry = store.entry(served, info.namespace, info.name)
    if entry is None:
        raise status_errors.not_found(served.group_resource, info.name)
    wanted = info.option("resourceVersion")
    if wanted:
        # kube-apiserver has no watch cache of Events, and its storage has other error messages.
        is_copied = served.gvk.kind != "Event"
        read_version = version_or_failure if is_copied else parsed_version
        check_not_future(read_version(wanted), store, is_copied=is_copied)
    return request.encoder.one(entry, served)


def list_(request: APIRequest, scope: RequestScope) -> bytes:
    """Return a page of a list, encoded; all pages of a list are of the same revision."""
    store, served, info = scope.store, request.served, request.info
    options = ListOptions.of(info)
    page = selected_page(store, served, info, options)
    metadata = list_metadata(page, served, info, options)
    return request.encoder.many(page.entries, served, metadata=metadata)


def list_metadata(
    page: Page, served: ServedResource, info: RequestInfo, options: ListOptions
) -> dict[str, object]:
    """Return the ListMeta of ``page``: revision, continue token and remaining item count."""
    metadata: dict[str, object] = {"resourceVersion": str(page.revision)}
    if served.custom:
        metadata = {"continue": "", **metadata}
    if page.remaining:
        last = page.entries[-1].key.place
        prefix = prefix_of(served, info)
        metadata["continue"] = _token(Position(last.removeprefix(prefix), page.revision))
        counted = not options.label_selector and not options.field_selector
        if counted and options.resource_version != "0":
            metadata["remainingItemCount"] = page.remaining
    return metadata


def selected_page(
    store: Store, served: ServedResource, info: RequestInfo, options: ListOptions
) -> Page:
    """Return a page of the objects that ``options`` select.

    The page also depends on the limit and the continue token in ``options``.
    """
    selects = selection(served, options)
    position = _position(store, options)
    # A list at resourceVersion 0 is not limited.
    limit = 0 if options.resource_version == "0" else max(options.limit, 0)
    prefix = prefix_of(served, info)
    try:
        page = store.view.page(
            served.stored_as,
            prefix=prefix,
            after=prefix + position.after if position.after else "",
            limit=limit or None if selects is None else None,
            revision=None if position.revision in (0, _NOW) else position.revision,
        )
    except Compacted:
        if not options.continued:
            raise status_errors.expired(
                "The resourceVersion for the provided list is too old."
            ) from None
        token = _token(Position(position.after, _NOW))
        raise status_errors.expired(
            _TOO_OLD + _START_AGAIN + _OR_GO_ON, metadata={"continue": token}
        ) from None
    if selects is None:
        return page
    if options.field_selector:
        object_encoder.prefetch(page.entries, served)
    return _filtered(page, selects, limit)


def _filtered(page: Page, selects: Selects, limit: int) -> Page:
    found: list[Entry] = []
    for entry in page.entries:
        if selects(entry):
            if limit and len(found) == limit:
                return Page(entries=found, remaining=1, revision=page.revision)
            found.append(entry)
    return Page(entries=found, remaining=0, revision=page.revision)


def prefix_of(served: ServedResource, info: RequestInfo) -> str:
    """Return the common prefix of the keys that a request reads.

    The prefix is the namespace with a slash; "" if the request is not limited to a namespace.
    """
    return f"{info.namespace}/" if served.namespaced and info.namespace else ""


def selection(served: ServedResource, options: ListOptions) -> Selects | None:
    """Return the predicate of the selectors in ``options``; None if they select every object."""
    by_label = parse_label_selector(options.label_selector)
    by_field = parse_field_selector(
        options.field_selector,
        known=served.selectable_fields,
        unsupported=served.unsupported_field,
    )
    if by_label.is_everything and by_field.is_everything:
        return None
    selectable = served.strategy.selectable

    def selects(entry: Entry) -> bool:
        if entry.value is None:
            return False
        if not by_label.matches(entry.value["metadata"].get("labels") or {}):
            return False
        # Labels are the same in all versions; fields may differ.
        return by_field.is_everything or by_field.matches(
            selectable(served.from_stored(entry.value))
        )

    return selects


def parsed_version(text: str) -> int:
    """Return the number in the resourceVersion ``text``.

    An invalid resourceVersion raises an error with code 400. Only clients must treat a
    resourceVersion as opaque.
    """
    try:
        return _version(text)
    except _NoVersion as problem:
        raise status_errors.bad_request(f"invalid resource version: {problem}") from None


def version_or_failure(text: str) -> int:
    """Return the number in the resourceVersion ``text``.

    An invalid resourceVersion raises an error with code 500: for some requests, kube-apiserver
    reports 500 instead of 400.
    """
    try:
        return _version(text)
    except _NoVersion as problem:
        raise status_errors.StatusError(500, "", str(problem)) from None


class _NoVersion(Exception):
    """The text is not a resourceVersion; the message is Go's."""


def _version(text: str) -> int:
    digits = text.lstrip("0") or "0"
    if not (text.isascii() and text.isdigit()):
        why = "invalid syntax"
    elif len(digits) > _MAX_DIGITS or int(digits) >= _VERSION_LIMIT:
        why = "value out of range"
    else:
        return int(digits)
    shown = field_errors.shown(text)
    raise _NoVersion(
        f"resourceVersion: Invalid value: {shown}: strconv.ParseUint: parsing {shown}: {why}"
    )


def check_not_future(wanted: int, store: Store, *, is_copied: bool = True) -> None:
    """Raise ``too_large_version`` if the revision ``wanted`` is newer than the current one."""
    current = store.view.revision
    if wanted > current:
        raise too_large_version(wanted, current, is_copied=is_copied)


def too_large_version(
    wanted: int, current: int, *, is_copied: bool = True
) -> status_errors.StatusError:
    """Return the error for the future revision ``wanted``.

    If ``is_copied`` is true, kube-apiserver would serve the request from a watch cache, which may
    reach the revision soon. The error then permits a retry.
    """
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    return status_errors.timeout(
        f"Too large resource version: {wanted}, current: {current}",
        causes=[cause],
        retry_after_seconds=1 if is_copied else 0,
    )


def _position(store: Store, options: ListOptions) -> Position:
    version = options.resource_version
    if options.continued:
        if version not in ("", "0"):
            raise status_errors.bad_request(
                "specifying resource version is not allowed when using continue"
            )
        position = _from_token(options.continued)
        check_not_future(position.revision, store)
        return position
    if not version:
        return Position("", 0)
    wanted = parsed_version(version)
    check_not_future(wanted, store)
    exact = options.resource_version_match == EXACT
    # Without resourceVersionMatch, a limited list from a revision is Exact.
    implied = not options.resource_version_match and options.limit > 0
    return Position("", wanted if exact or implied else 0)


def _token(position: Position) -> str:
    # The next possible key: the zero byte sorts before every other character.
    fields = {"v": _TOKEN_VERSION, "rv": position.revision, "start": f"{position.after}\0"}
    return base64.urlsafe_b64encode(msgspec.json.encode(fields)).rstrip(b"=").decode()


def _from_token(token: str) -> Position:
    def bad(why: str) -> status_errors.StatusError:
        return status_errors.bad_request(f"invalid continue token: continue key is not valid{why}")

    try:
        content = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        go_json.check_syntax(content)
        fields = msgspec.json.decode(content, type=dict[str, Any])
    except (binascii.Error, ValueError, go_json.BadSyntax) as error:
        raise bad(f": {error}") from None
    version, revision, start = (fields.get(name) for name in ("v", "rv", "start"))
    if version != _TOKEN_VERSION:
        raise bad(f": server does not recognize this encoded version {version or ''}")
    if not isinstance(revision, int) or revision == 0:
        raise bad(f": incorrect encoded start resourceVersion (version {_TOKEN_VERSION})")
    if not isinstance(start, str) or not start:
        raise bad(f": encoded start key empty (version {_TOKEN_VERSION})")
    if any(part in ("", ".", "..") for part in start.split("/")):
        raise bad(f": {start}")
    return Position(start.removesuffix("\0"), revision)
