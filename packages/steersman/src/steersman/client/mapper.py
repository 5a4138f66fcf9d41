"""``RestMapper``: maps a kind to its resource on the server, including kinds that appear later."""

import asyncio
import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from steersman.client.discovery import Discovery, ServedResource
from steersman.clock import Clock
from steersman.errors import UnknownKind
from steersman.kinds import Unstructured
from steersman.names import GroupVersionKind

# A missing kind is looked up again, but not more often than this: repeated lookups of a kind that
# does not exist would otherwise repeat the whole discovery.
REFRESH_SECONDS = 5.0


class _Discovers(Protocol):
    clock: Clock

    async def discover(self) -> Discovery: ...


class RestMapper:
    """A cache of the API server's discovery.

    Discovery is requested again when a kind is looked up that the cache does not contain.
    """

    def __init__(self, client: _Discovers) -> None:
        self._client = client
        self._known: Discovery | None = None
        self._looked_again_at = -math.inf
        self._asking = asyncio.Lock()

    async def of_kind(self, api_version: str, kind: str) -> ServedResource:
        """Return the resource of ``api_version`` and ``kind``."""
        return await self._find(
            str(GroupVersionKind.of(api_version, kind)),
            lambda known: known.of_kind(api_version, kind),
        )

    async def named(self, word: str) -> ServedResource:
        """Return the resource that ``kubectl get WORD`` would show."""
        return await self._find(word, lambda known: known.named(word))

    async def class_of(self, api_version: str, kind: str) -> type[Unstructured]:
        """Return a class for ``api_version`` and ``kind``, to pass to a client's methods."""
        return Unstructured.at((await self.of_kind(api_version, kind)).resource_type)

    async def unstructured(self, body: Mapping[str, Any]) -> Unstructured:
        """Return ``body`` as an ``Unstructured`` object that can be passed to a client.

        ``body`` is the object's content, for example from a file. The class of the result has the
        resource type that the server serves for the object's kind.
        """
        bare = Unstructured(body)
        return (await self.class_of(bare.gvk.api_version, bare.gvk.kind))(body)

    async def _find(
        self, wanted: str, look: Callable[[Discovery], ServedResource | None]
    ) -> ServedResource:
        found = look(await self._discovery())
        if found is None:
            found = look(await self._discovery(again=True))
        if found is None:
            raise UnknownKind(
                kind=wanted,
                missing_from="the API server",
                what_now="Install its CRD or API service, or correct the name or version.",
            )
        return found

    async def _discovery(self, *, again: bool = False) -> Discovery:
        async with self._asking:
            clock = self._client.clock
            if self._known is None:
                self._known = await self._client.discover()
            elif again and clock.monotonic() - self._looked_again_at >= REFRESH_SECONDS:
                self._known = await self._client.discover()
                self._looked_again_at = clock.monotonic()
            return self._known
