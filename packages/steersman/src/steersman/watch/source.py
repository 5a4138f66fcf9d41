"""The source of a reflector: the protocol of its three requests, and its implementation by a
client.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Generic, Protocol, TypeVar

from steersman.client import Client, Fields, Labels, WatchEvent
from steersman.kinds import DecodedList, Resource, Unstructured
from steersman.names import ObjectRef

Obj = TypeVar("Obj", bound=Resource | Unstructured)


class Source(Protocol[Obj]):
    """The objects of one kind on a server: all, or those of one namespace, or those that match
    selectors.
    """

    @property
    def resource(self) -> str:
        """The plural name of the kind, for metrics."""
        ...

    @property
    def ref(self) -> ObjectRef:
        """The objects in readable form: ``Pod default/*``."""
        ...

    def pages(self, *, page_size: int | None) -> AsyncIterator[DecodedList[Obj]]:
        """List all objects in pages of ``page_size``.

        With ``None``, list all objects in one response, which is decoded while it is received.
        """
        ...

    def watch(
        self, *, version: str | None, initial_events: bool, timeout_seconds: float
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent[Obj]]]:
        """Watch the events after ``version``; with ``initial_events``, existing objects first."""
        ...

    async def probe(self, version: str) -> None:
        """Raise ``TooLargeResourceVersion`` if the server has not reached ``version``."""
        ...


class ClientSource(Generic[Obj]):
    """A source of some objects of one kind, read with a ``Client``."""

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
        """List all objects in pages of ``page_size``.

        With ``None``, list all objects in one response, which is decoded while it is received.
        """
        # Without a version, which means: the most recent.
        if page_size is None:
            return self._client.pieces(
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
        """Watch the events after ``version``; with ``initial_events``, existing objects first."""
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
        # A page of one costs next to nothing, and needs no right that the list does not need.
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
        return f"<ClientSource {self.ref}>"
