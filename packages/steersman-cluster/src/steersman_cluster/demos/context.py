"""``DemoContext``: the methods that the steps of a demo call."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from steersman.client import Client, Labels, MergePatch, wait_for, wait_until_gone
from steersman.errors import ApiError, WaitTimeout
from steersman.kinds import Resource
from steersman_cluster.demos.samples import apply_file
from steersman_cluster.errors import NotRejected

Obj = TypeVar("Obj", bound=Resource)

NAMESPACE: Final = "default"
FIELD_MANAGER: Final = "demo"

# A step waits for less than a second; on a slow machine, for a few.
TIMEOUT_SECONDS: Final = 60.0


class DemoContext:
    """Methods with which a demo acts on a cluster and waits for results.

    All of them use the namespace ``default``. ``say`` is called to print the title of a step, and
    ``note`` to print a remark on the step. Files are read from ``directory``. Between two steps
    there is a pause of ``pause_seconds``. The demo's runner passes each line of the operator's
    output to ``add_output``.
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
        self._title = ""
        self._output: list[str] = []
        self._has_output = asyncio.Event()

    def __repr__(self) -> str:
        return f"<DemoContext for what is in {self._directory.name}>"

    # Output

    async def step(self, title: str) -> None:
        """End the previous step with a pause, then print ``title``, the title of the new step."""
        if self._title:
            await self.pause()
        self._title = title
        self._output.clear()
        self._say(title)

    def note(self, text: str) -> None:
        """Print ``text``, a remark on the current step, such as its result or the reason for it."""
        self._note(text)

    async def pause(self) -> None:
        """Pause, so that the viewer can read the result of the current step."""
        await self.client.clock.sleep(self._pause_seconds)

    # Requests

    async def apply(self, what: str | Resource) -> None:
        """Apply ``what``, an object or the name of a file with objects, like ``kubectl apply``."""
        if isinstance(what, str):
            await apply_file(self.client, self._directory / what)
        else:
            await self.client.apply(what, field_manager=FIELD_MANAGER)

    async def patch(self, kind: type[Obj], name: str, changes: Mapping[str, Any]) -> Obj:
        """Change the fields in ``changes`` of the object ``name``, with a JSON merge patch."""
        return await self.client.patch(
            kind, name, MergePatch(changes), namespace=NAMESPACE, field_manager=FIELD_MANAGER
        )

    async def delete(self, kind: type[Obj], name: str) -> None:
        """Request the deletion of the object ``name``; ``until_gone`` waits for its end."""
        await self.client.delete(kind, name, namespace=NAMESPACE)

    async def expect_rejection(self, writing: Awaitable[object]) -> ApiError:
        """Await ``writing``, which the server must reject, and print the server's message.

        Return the server's error. Raise ``NotRejected`` if the server accepts the request.
        """
        try:
            await writing
        except ApiError as error:
            if error.code < 500:  # an error of the server is no rejection
                self.note(f"rejected: {error.message}")
                return error
            raise
        raise NotRejected(step=self._title)

    # Reads

    async def get(self, kind: type[Obj], name: str) -> Obj:
        """Get an object."""
        return await self.client.get(kind, name, namespace=NAMESPACE)

    async def list(
        self, kind: type[Obj], labels: Mapping[str, str] | None = None
    ) -> tuple[Obj, ...]:
        """List the objects of kind ``kind``, only those with ``labels`` if given."""
        chosen = Labels.equal(labels) if labels else None
        return (await self.client.list(kind, namespace=NAMESPACE, labels=chosen)).items

    # Waits

    async def until(self, kind: type[Obj], name: str, holds: Callable[[Obj], bool]) -> Obj:
        """Wait until the object ``name`` exists and ``holds(object)`` is true; return it."""
        return await wait_for(
            self.client, kind, name, holds, namespace=NAMESPACE, within_seconds=TIMEOUT_SECONDS
        )

    async def until_back(self, kind: type[Obj], name: str, *, not_uid: str) -> Obj:
        """Wait until the object ``name`` exists with a uid other than ``not_uid``; return it."""
        return await self.until(kind, name, lambda found: found.uid != not_uid)

    async def until_all(
        self,
        kind: type[Obj],
        holds: Callable[[tuple[Obj, ...]], bool],
        labels: Mapping[str, str] | None = None,
    ) -> tuple[Obj, ...]:
        """Wait until ``holds(objects)`` is true, and return the objects.

        These are the objects of kind ``kind``, only those with ``labels`` if given.
        """
        chosen = Labels.equal(labels) if labels else None
        found: tuple[Obj, ...] = ()
        try:
            async with self.client.clock.timeout(TIMEOUT_SECONDS):
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

    async def until_gone(self, kind: type[Obj], name: str, *, uid: str = "") -> None:
        """Wait until the object ``name`` no longer exists.

        With ``uid``, it is sufficient that no object with this name has this uid.
        """
        await wait_until_gone(
            self.client, kind, name, uid=uid, namespace=NAMESPACE, within_seconds=TIMEOUT_SECONDS
        )

    # The operator's output

    def add_output(self, line: str) -> None:
        """Add ``line`` to the operator's output, which ``until_printed`` searches."""
        self._output.append(line)
        self._has_output.set()

    async def until_printed(self, text: str) -> None:
        """Wait until a line that the operator has written in this step contains ``text``."""
        try:
            async with self.client.clock.timeout(TIMEOUT_SECONDS):
                while not any(text in line for line in self._output):
                    self._has_output.clear()
                    await self._has_output.wait()
        except TimeoutError:
            last = self._output[-1] if self._output else "nothing"
            raise _not_settled(f"the operator to write {text!r}", last) from None


def _not_settled(waited_for: str, last_seen: str) -> WaitTimeout:
    return WaitTimeout(waited_for=waited_for, waited_seconds=TIMEOUT_SECONDS, last_seen=last_seen)
