"""The source of a reflector: a protocol with three requests, and its implementation."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Generic, Protocol, TypeVar

from steersman.client import Client, Fields, Labels, WatchEvent
from steersman.kinds import DecodedList, Resource, Unstructured
from steersman.names import ObjectRef

Obj = TypeVar("Obj", bound=Resource | Unstructured)


class ListerWatcher(Protocol[Obj]):
    """The objects that a reflector lists and watches: objects of one kind on a server.

    A source is limited to a namespace, to objects that match selectors, to both, or to neither.
    """

    @property
    def resource(self) -> str:
        """The plural name of the resource, for metrics."""
        ...

    @property
    def ref(self) -> ObjectRef:
        """The objects of the source in readable form: ``Pod default/*``."""
        ...

    def pages(self, *, page_size: int | None) -> AsyncIterator[DecodedList[Obj]]:
        """List all objects in pages of at most ``page_size`` objects.

        With ``None``, list all objects in one response, which is decoded while it is received.
        """
        ...

    def watch(
        self, *, version: str | None, initial_events: bool, timeout_seconds: float
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent[Obj]]]:
        """Watch the events after ``version``.

        With ``initial_events``, the watch begins with an event for each existing object. The server
        ends the watch after ``timeout_seconds``.
        """
        ...

    async def probe(self, version: str) -> None:
        """Raise ``TooLargeResourceVersion`` if the server has not reached ``version``."""
        ...


class ClientListerWatcher(Generic[Obj]):
    """A source whose requests are sent by a ``Client``."""

    def __init__(
        self,
        client: Client,
        kind: type[Obj],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
    ) -> None:
        self.resource = kind.resource_type.plural
        self.ref = ObjectRef(kind.resource_type.gvk.kind, namespace, "*")
        self._client = client
        self._kind = kind
        self._namespace = namespace
        self._labels = labels
        self._fields = fields

    def pages(self, *, page_size: int | None) -> AsyncIterator[DecodedList[Obj]]:
        """List all objects in pages of at most ``page_size`` objects.

        With ``None``, list all objects in one response, which is decoded while it is received.
        """
        # Without a version, the server returns the most recent state.
        if page_size is None:
            return self._client.stream_list(
                self._kind, namespace=self._namespace, labels=self._labels, fields=self._fields
            )
        return self._client.pages(
            self._kind,
            namespace=self._namespace,
            labels=self._labels,
            fields=self._fields,
            page_size=page_size,
        )

    def watch(
        self, *, version: str | None, initial_events: bool, timeout_seconds: float
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent[Obj]]]:
        """Watch the events after ``version``.

        With ``initial_events``, the watch begins with an event for each existing object. The server
        ends the watch after ``timeout_seconds``.
        """
        return self._client.watch(
            self._kind,
            namespace=self._namespace,
            labels=self._labels,
            fields=self._fields,
            resource_version=version,
            initial_events=initial_events,
            timeout_seconds=timeout_seconds,
        )

    async def probe(self, version: str) -> None:
        """Raise ``TooLargeResourceVersion`` if the server has not reached ``version``."""
        # A page of one object costs little, and needs no permission beyond those for the list.
        async for _ in self._client.pages(
            self._kind,
            namespace=self._namespace,
            labels=self._labels,
            fields=self._fields,
            resource_version=version,
            resource_version_match="NotOlderThan",
            page_size=1,
        ):
            return

    def __repr__(self) -> str:
        return f"<ClientListerWatcher {self.ref}>"
