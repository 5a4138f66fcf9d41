"""``DemoContext``: what the steps of a demo can do."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from steersman.client import Client, Labels, MergePatch, wait_for, wait_until_gone
from steersman.errors import ApiError, NotSettled
from steersman.kinds import Resource
from steersman_cluster.demos.samples import apply_file
from steersman_cluster.errors import NotRejected

Obj = TypeVar("Obj", bound=Resource)

NAMESPACE: Final = "default"
FIELD_MANAGER: Final = "demo"

# For what takes a blink of an eye; on the slowest machine, a few.
PATIENCE_SECONDS: Final = 60.0


class DemoContext:
    """What people do to a cluster, said aloud, and waited for; all in the namespace ``default``.

    ``say`` is told each step, and ``note`` what else there is to say of it. Files are looked for in
    ``directory``. Whoever has the operator's output passes it to ``hear``.
    """

    def __init__(
        self,
        client: Client,
        *,
        directory: Path,
        say: Callable[[str], object],
        note: Callable[[str], object],
        pause_seconds: float,
    ) -> None:
        self.client = client
        self._directory = directory
        self._say = say
        self._note = note
        self._pause_seconds = pause_seconds
        self._said = ""
        self._heard: list[str] = []
        self._hears = asyncio.Event()

    def __repr__(self) -> str:
        return f"<DemoContext for what is in {self._directory.name}>"

    # What is said

    async def step(self, said: str) -> None:
        """Leave time to look at what came of the last step, then say what happens in this one."""
        if self._said:
            await self.look()
        self._said = said
        self._heard.clear()
        self._say(said)

    def note(self, said: str) -> None:
        """Say one thing more about this step: what came of it, or why."""
        self._note(said)

    async def look(self) -> None:
        """Leave time to look."""
        await self.client.clock.sleep(self._pause_seconds)

    # What people do

    async def apply(self, what: str | Resource) -> None:
        """Apply the objects in a file, as ``kubectl apply`` would, or one that is given."""
        if isinstance(what, str):
            await apply_file(self.client, self._directory / what)
        else:
            await self.client.apply(what, field_manager=FIELD_MANAGER)

    async def patch(self, kind: type[Obj], name: str, changes: Mapping[str, Any]) -> Obj:
        """Change some fields of an object."""
        return await self.client.patch(
            kind, name, MergePatch(changes), namespace=NAMESPACE, field_manager=FIELD_MANAGER
        )

    async def delete(self, kind: type[Obj], name: str) -> None:
        """Delete an object; ``gone`` waits for its end."""
        await self.client.delete(kind, name, namespace=NAMESPACE)

    async def refused(self, writing: Awaitable[object]) -> ApiError:
        """Try something that the server is to refuse, and note its words."""
        try:
            await writing
        except ApiError as error:
            if error.code < 500:  # a server that fails has not refused anything
                self.note(f"refused: {error.message}")
                return error
            raise
        raise NotRejected(step=self._said)

    # What there is

    async def get(self, kind: type[Obj], name: str) -> Obj:
        """One object."""
        return await self.client.get(kind, name, namespace=NAMESPACE)

    async def list(
        self, kind: type[Obj], labels: Mapping[str, str] | None = None
    ) -> tuple[Obj, ...]:
        """All objects of a kind; with ``labels``, those that have them."""
        chosen = Labels.equal(labels) if labels else None
        return (await self.client.list(kind, namespace=NAMESPACE, labels=chosen)).items

    # What comes of it

    async def until(self, kind: type[Obj], name: str, holds: Callable[[Obj], bool]) -> Obj:
        """The object, once this holds of it; it need not be there yet."""
        return await wait_for(
            self.client, kind, name, holds, namespace=NAMESPACE, within_seconds=PATIENCE_SECONDS
        )

    async def until_back(self, kind: type[Obj], name: str, *, not_uid: str) -> Obj:
        """The object, once it is there as another than the one with this uid."""
        return await self.until(kind, name, lambda found: found.uid != not_uid)

    async def until_all(
        self,
        kind: type[Obj],
        holds: Callable[[tuple[Obj, ...]], bool],
        labels: Mapping[str, str] | None = None,
    ) -> tuple[Obj, ...]:
        """All objects of a kind, with ``labels`` those that have them, once this holds of them."""
        chosen = Labels.equal(labels) if labels else None
        found: tuple[Obj, ...] = ()
        try:
            async with self.client.clock.timeout(PATIENCE_SECONDS):
                while True:
                    listing = await self.client.list(kind, namespace=NAMESPACE, labels=chosen)
                    found = listing.items
                    if holds(found):
                        return found
                    async with self.client.watch(
                        kind,
                        namespace=NAMESPACE,
                        labels=chosen,
                        resource_version=listing.resource_version,
                    ) as events:
                        await anext(aiter(events), None)
        except TimeoutError:
            raise _not_settled(
                f"a state of all {kind.resource_type.gvk.kind}s", f"{len(found)} of them"
            ) from None

    async def gone(self, kind: type[Obj], name: str, *, uid: str = "") -> None:
        """Come back once there is no such object; with ``uid``, not this one any more."""
        await wait_until_gone(
            self.client, kind, name, uid=uid, namespace=NAMESPACE, within_seconds=PATIENCE_SECONDS
        )

    # What the operator says

    def hear(self, line: str) -> None:
        """The operator has written this line."""
        self._heard.append(line)
        self._hears.set()

    async def until_said(self, text: str) -> None:
        """Come back once the operator has written a line with this in it, in this step."""
        try:
            async with self.client.clock.timeout(PATIENCE_SECONDS):
                while not any(text in line for line in self._heard):
                    self._hears.clear()
                    await self._hears.wait()
        except TimeoutError:
            last = self._heard[-1] if self._heard else "nothing"
            raise _not_settled(f"the operator to write {text!r}", last) from None


def _not_settled(waited_for: str, last_seen: str) -> NotSettled:
    return NotSettled(waited_for=waited_for, waited_seconds=PATIENCE_SECONDS, last_seen=last_seen)
