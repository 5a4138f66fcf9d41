"""``Client``: the verbs of the API, typed. Pass a kind, get that kind back."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from random import Random
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, Unpack

import msgspec
from msgspec.structs import replace

from steersman.client.deletion import (
    Deletion,
    Preconditions,
    Propagation,
    delete_options,
    deletion_result,
)
from steersman.client.patches import APPLY, Patch
from steersman.client.request.caller import Caller, response_stalled_error, too_large
from steersman.client.request.continuation import Continuation
from steersman.client.request.list_splitter import ListSplitter
from steersman.client.request.paths import home_path
from steersman.client.request.request_sender import RequestSender
from steersman.client.request.request_spec import (
    RequestSpec,
    about_many,
    about_one,
    at_version,
    query,
    selector_query,
)
from steersman.client.request.responses import read_status
from steersman.client.selectors import Fields, Labels
from steersman.client.settings import ClientSettings, SettingsChanges
from steersman.client.subresources import (
    Subresource,
    refuse_metadata_only,
    unread_write,
    whole_typed_write,
)
from steersman.client.watch_events import WatchEvent, events_in
from steersman.clock import Clock
from steersman.kinds import Codec, DecodedList, Part, Resource, Unstructured
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import Observer
from steersman.wire import Transport

if TYPE_CHECKING:
    from steersman.client.discovery import Discovery
    from steersman.client.pod_logs import LogOptions
    from steersman.kinds import authentication_v1, autoscaling_v1, policy_v1

Obj = TypeVar("Obj", bound=Resource | Unstructured)
S = TypeVar("S", bound=Part | Unstructured)
U = TypeVar("U", bound=Unstructured)

VersionMatch = Literal["Exact", "NotOlderThan"]


class Listing(msgspec.Struct, Generic[Obj], frozen=True, kw_only=True):
    """The objects that a list request returned, and the resourceVersion of the list."""

    items: tuple[Obj, ...]
    resource_version: str


class Client:
    """The verbs of the Kubernetes API, as typed methods.

    The kind that is passed to a method determines the type of the result. A kind is a ``Resource``
    class, or a class created by ``Unstructured.of`` or by discovery. Every call has a deadline. A
    request is retried only if the retry cannot write twice. ``ClientSettings`` contains the
    defaults of all calls.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        clock: Clock,
        rng: Random,
        observe: Observer,
        settings: ClientSettings | None = None,
    ) -> None:
        self.clock = clock
        self.rng = rng
        self._sender = RequestSender(
            Caller(transport, clock=clock, rng=rng, observe=observe),
            Codec(),
            settings or ClientSettings(),
        )

    @property
    def settings(self) -> ClientSettings:
        """The settings of this client."""
        return self._sender.settings

    @property
    def last_response_at(self) -> float | None:
        """The monotonic time of the API server's last response; ``None`` means never.

        A server error (5xx) does not count as a response, because it may come from an intermediary.
        Events of an open watch do not count either.
        """
        return self._sender.last_response_at

    def with_settings(self, **changes: Unpack[SettingsChanges]) -> "Client":
        """Return a client with changed settings, such as ``dry_run`` or a shorter deadline.

        Both clients share connections, credentials and the retry budget.
        """
        other = object.__new__(Client)
        other.clock = self.clock
        other.rng = self.rng
        other._sender = self._sender.with_settings(replace(self.settings, **changes))
        return other

    # Reading

    async def get(
        self,
        kind: type[Obj],
        name: str,
        *,
        namespace: str | None = None,
        resource_version: str | None = None,
    ) -> Obj:
        """Return one object.

        ``resource_version="0"`` permits the API server to return a stale object from its cache.
        """
        options = at_version(resource_version)
        return await self._sender.object(
            kind, about_one("get", "GET", kind, namespace, name, options)
        )

    async def list(
        self,
        kind: type[Obj],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        resource_version: str | None = None,
        resource_version_match: VersionMatch | None = None,
        page_size: int | None = None,
    ) -> Listing[Obj]:
        """Return all objects of ``kind``, in one namespace or in all, at one resourceVersion."""
        items: list[Obj] = []
        version = ""
        async for page in self.pages(
            kind,
            namespace=namespace,
            labels=labels,
            fields=fields,
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            page_size=page_size,
        ):
            items.extend(_all_of(page))
            version = page.resource_version
        return Listing(items=tuple(items), resource_version=version)

    async def iterate(
        self,
        kind: type[Obj],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        page_size: int | None = None,
    ) -> AsyncIterator[Obj]:
        """Yield each object that ``list`` would return; at most one page is in memory."""
        async for page in self.pages(
            kind, namespace=namespace, labels=labels, fields=fields, page_size=page_size
        ):
            for obj in _all_of(page):
                yield obj

    async def pages(
        self,
        kind: type[Obj],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        resource_version: str | None = None,
        resource_version_match: VersionMatch | None = None,
        page_size: int | None = None,
    ) -> AsyncIterator[DecodedList[Obj]]:
        """Yield the objects page by page; ``invalid`` lists the errors for undecodable objects.

        If a page is requested too late, ``Expired`` is raised, because the API server no longer
        stores the resourceVersion of the first page.
        """
        pages = self._continuation(kind, namespace)
        while True:
            token = pages.token
            options = query(
                limit=page_size or self.settings.page_size,
                # The continue token contains the version; the server rejects both together.
                resourceVersion=None if token else resource_version,
                resourceVersionMatch=None if token else resource_version_match,
                **{"continue": token or None},
                **selector_query(labels, fields),
            )
            spec = about_many(
                "list",
                "GET",
                kind,
                namespace,
                options,
                self.settings.page_limit_bytes,
            )
            page = self._sender.codec.decode_list(
                kind, await self._sender.body(spec), wanted=spec.wanted
            )
            pages.add(page.items)
            yield page
            is_empty = not page.items and not page.invalid
            if not pages.advance(page.continue_token, is_empty=is_empty):
                return

    async def stream_list(
        self,
        kind: type[Obj],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
    ) -> AsyncIterator[DecodedList[Obj]]:
        """Yield the objects of one list response in pieces, decoded while the response is received.

        The API server sends the current objects from memory, and neither side holds the complete
        text. The last piece contains the resourceVersion of the list. The deadline applies to the
        wait for each piece, and the request is not retried. Some servers respond with a page
        although none was requested: the next page is then requested, and the last piece of each
        page contains a resourceVersion.
        """
        pages = self._continuation(kind, namespace)
        while True:
            options = query(**{"continue": pages.token or None}, **selector_query(labels, fields))
            limit_bytes = self.settings.page_limit_bytes
            spec = about_many("list", "GET", kind, namespace, options, limit_bytes)
            pieces = _stream_list(self._sender, kind, spec, clock=self.clock)
            token, is_empty = "", True
            async with aclosing(pieces):
                async for piece in pieces:
                    if is_empty:
                        pages.add(piece.items)
                        is_empty = not piece.items and not piece.invalid
                    yield piece
                    token = piece.continue_token
            if not pages.advance(token, is_empty=is_empty):
                return

    def _continuation(self, kind: type[Obj], namespace: str | None) -> Continuation:
        ref = ObjectRef(kind.resource_type.gvk.kind, namespace, "*")
        return Continuation(f"list {ref}", pages_limit=self.settings.pages_limit)

    @asynccontextmanager
    async def watch(
        self,
        kind: type[Obj],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        resource_version: str | None = None,
        initial_events: bool = False,
        bookmarks: bool = True,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[AsyncIterator[WatchEvent[Obj]]]:
        """Provide the watch events after ``resource_version`` while the block runs.

        With ``initial_events``, the API server first sends all existing objects, followed by a
        bookmark. The server closes the watch after ``timeout_seconds``, or earlier.
        """
        options = query(
            watch="true",
            resourceVersion=resource_version,
            allowWatchBookmarks="true" if bookmarks or initial_events else None,
            sendInitialEvents="true" if initial_events else None,
            resourceVersionMatch="NotOlderThan" if initial_events else None,
            timeoutSeconds=None if timeout_seconds is None else max(1, round(timeout_seconds)),
            **selector_query(labels, fields),
        )
        spec = about_many("watch", "GET", kind, namespace, options)
        async with self._sender.stream(spec) as response:
            stream = events_in(
                response,
                kind,
                codec=self._sender.codec,
                wanted=spec.wanted,
                limit_bytes=self.settings.object_limit_bytes,
            )
            async with aclosing(stream) as events:
                yield events

    # Writing

    async def create(
        self, obj: Obj, *, field_manager: str | None = None, dry_run: bool | None = None
    ) -> Obj:
        """Create ``obj`` and return the created object.

        Raise ``AlreadyExists`` if an object with this name exists.
        """
        refuse_metadata_only(obj, "create")
        spec = RequestSpec(
            verb="create",
            method="POST",
            path=home_path(obj.resource_type, obj.namespace),
            ref=obj.ref,
            resource=obj.resource_type.plural,
            query=self._sender.write_query(field_manager, dry_run),
            body=obj,
        )
        return await self._sender.object(type(obj), spec)

    async def update(
        self, obj: U, *, field_manager: str | None = None, dry_run: bool | None = None
    ) -> U:
        """Replace an object by ``obj``; raise ``Conflict`` if it was changed since it was read.

        Only ``Unstructured`` objects are accepted. A typed object contains only the fields that its
        class declares, so replacing the object by it would drop all other fields.
        """
        refuse_metadata_only(obj, "update")
        if not isinstance(obj, Unstructured):
            raise whole_typed_write(obj.ref)
        if not obj.resource_version:
            raise unread_write(obj.ref)
        options = self._sender.write_query(field_manager, dry_run)
        place = (type(obj), obj.namespace, obj.name)
        return await self._sender.object(
            type(obj), about_one("update", "PUT", *place, options, obj)
        )

    async def patch(
        self,
        kind: type[Obj],
        name: str,
        patch: Patch,
        *,
        namespace: str | None = None,
        field_manager: str | None = None,
        dry_run: bool | None = None,
    ) -> Obj:
        """Change some fields of an object by ``patch``, and return the changed object."""
        options = self._sender.write_query(field_manager, dry_run)
        place = (kind, namespace, name)
        spec = about_one("patch", "PATCH", *place, options, patch.body, patch.content_type)
        return await self._sender.object(kind, spec)

    async def apply(
        self, obj: Obj, *, field_manager: str, force: bool = False, dry_run: bool | None = None
    ) -> Obj:
        """Set exactly the fields in ``obj``, and own them as ``field_manager`` (server-side apply).

        If another field manager owns one of these fields with another value, raise ``Conflict``
        unless ``force`` is true. A field that ``field_manager`` applied earlier and that ``obj``
        does not contain is no longer owned. If ``obj`` has a uid, an object that was deleted is not
        created again.
        """
        refuse_metadata_only(obj, "apply")
        options = self._sender.write_query(field_manager, dry_run, force=force)
        place = (type(obj), obj.namespace, obj.name)
        spec = about_one("apply", "PATCH", *place, options, obj, APPLY)
        return await self._sender.object(type(obj), spec)

    async def delete(
        self,
        kind: type[Obj],
        name: str,
        *,
        namespace: str | None = None,
        preconditions: Preconditions | None = None,
        propagation: Propagation | None = None,
        grace_seconds: int | None = None,
        dry_run: bool | None = None,
    ) -> Deletion[Obj]:
        """Request the deletion of an object; the result reports whether the deletion is complete.

        Finalizers and grace periods delay the deletion; ``wait_until_gone`` waits until it is
        complete.
        """
        dry = self._sender.dry_run(dry_run)
        terms = delete_options(dry, preconditions, propagation, grace_seconds)
        spec = about_one("delete", "DELETE", kind, namespace, name, (), terms)
        answer = await self._sender.body(spec)
        status = read_status(answer)
        if status is None:
            return deletion_result(self._sender.decoded(kind, spec, answer), tried_only=bool(dry))
        return Deletion(
            resource_type=kind.resource_type,
            key=ObjectKey(namespace, name),
            obj=None,
            uid=status.details.uid if status.details else "",
            is_gone=not dry and status.status == "Success",
        )

    async def delete_all(
        self,
        kind: type[Obj],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        propagation: Propagation | None = None,
        grace_seconds: int | None = None,
        dry_run: bool | None = None,
    ) -> None:
        """Request the deletion of all matching objects of ``kind``.

        The objects of a namespaced kind are deleted in ``namespace`` only.
        """
        home_path(kind.resource_type, namespace)  # for its error if the namespace is missing
        spec = about_many(
            "deletecollection",
            "DELETE",
            kind,
            namespace,
            query(**selector_query(labels, fields)),
            self.settings.page_limit_bytes,
            delete_options(self._sender.dry_run(dry_run), None, propagation, grace_seconds),
        )
        await self._sender.body(spec)

    # Subresources

    def subresource(
        self,
        kind: type[Obj],
        name: str,
        subresource: str,
        *,
        of: type[S],
        namespace: str | None = None,
    ) -> Subresource[S]:
        """Return a subresource of an object; ``of`` is the class of the subresource's content."""
        return Subresource(
            self._sender,
            kind.resource_type,
            namespace=namespace,
            name=name,
            path=subresource,
            of=of,
        )

    def status(
        self, kind: type[Obj], name: str, *, namespace: str | None = None
    ) -> Subresource[Obj]:
        """Return the status subresource of an object; a write to it changes only the status."""
        return self.subresource(kind, name, "status", of=kind, namespace=namespace)

    def scale(
        self, kind: type[Obj], name: str, *, namespace: str | None = None
    ) -> "Subresource[autoscaling_v1.Scale]":
        """Return the scale subresource of an object, with its actual and desired replica counts."""
        from steersman.kinds import autoscaling_v1

        return self.subresource(kind, name, "scale", of=autoscaling_v1.Scale, namespace=namespace)

    def eviction(self, pod: str, *, namespace: str) -> "Subresource[policy_v1.Eviction]":
        """Return the eviction subresource of a Pod.

        A disruption budget can reject an eviction (``TooManyRequests``).
        """
        from steersman.kinds import core_v1, policy_v1

        return self.subresource(
            core_v1.Pod, pod, "eviction", of=policy_v1.Eviction, namespace=namespace
        )

    def token(
        self, service_account: str, *, namespace: str
    ) -> "Subresource[authentication_v1.TokenRequest]":
        """Return the subresource that creates short-lived tokens for a ServiceAccount."""
        from steersman.kinds import authentication_v1, core_v1

        return self.subresource(
            core_v1.ServiceAccount,
            service_account,
            "token",
            of=authentication_v1.TokenRequest,
            namespace=namespace,
        )

    def logs(
        self, pod: str, *, namespace: str, options: "LogOptions | None" = None
    ) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Provide the lines of a container's log.

        With ``follow`` in ``options``, the lines also include those that are written later.
        """
        from steersman.client.pod_logs import LogOptions, pod_log

        return pod_log(
            self._sender,
            pod,
            namespace=namespace,
            options=options or LogOptions(),
            clock=self.clock,
        )

    async def ping(self) -> None:
        """Send a request that requires no permission and little work of the API server."""
        await self._sender.body(
            RequestSpec(
                verb="get",
                method="GET",
                path="/version",
                ref=ObjectRef("version", None, "of the API server"),
                resource="version",
            )
        )

    async def discover(self) -> "Discovery":
        """Return every kind that the API server currently serves."""
        from steersman.client.discovery import discover

        return await discover(self._sender)


def _all_of(page: DecodedList[Obj]) -> tuple[Obj, ...]:
    if page.invalid:
        # Without the invalid object, the list would look as if it had been deleted. ``pages``
        # provides the others.
        raise page.invalid[0]
    return page.items


async def _stream_list(
    sender: RequestSender, kind: type[Obj], spec: RequestSpec, *, clock: Clock
) -> AsyncGenerator[DecodedList[Obj], None]:
    """Yield the list in parts, decoded as it arrives; the last part contains the list metadata.

    Neither the text nor the objects of a long list are in memory twice. The deadline applies to
    each part, and the size limit to the buffered text.
    """
    codec, wanted = sender.codec, spec.wanted
    deadline_seconds, limit_bytes = (
        sender.settings.deadline_seconds,
        sender.settings.page_limit_bytes,
    )
    splitter = ListSplitter(lambda block: codec.decode_items(kind, block, wanted=wanted))
    async with sender.stream(spec) as response:
        chunks = aiter(response.chunks())
        while True:
            try:
                async with clock.timeout(deadline_seconds):
                    chunk = await anext(chunks, b"")
            except TimeoutError as error:
                raise response_stalled_error(spec, deadline_seconds) from error
            if not chunk:
                break
            for piece in splitter.feed(chunk):
                yield piece
            if splitter.held_bytes > limit_bytes:
                raise too_large(spec, limit_bytes)
    yield codec.decode_list(kind, splitter.remaining_list, wanted=wanted)
