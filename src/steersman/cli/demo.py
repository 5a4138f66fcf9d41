"""``steersman demo``: the story of an example, told where its operator is at work."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from steersman.cli.installing import install
from steersman.client import Client
from steersman.dashboard import Gallery
from steersman.demos import Demo, Stage
from steersman.manifests import crds_of
from steersman.names import ResourceType


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """A demo, the directory that it is in, and how long each of its steps is looked at."""

    demo: Demo
    directory: Path
    pause_seconds: float


class Performance(Stage):
    """A showing on a cluster, before those who look at a gallery of it."""

    def __init__(
        self,
        showing: Showing,
        client: Client,
        gallery: Gallery,
        *,
        say: Callable[[str], None],
        note: Callable[[str], None],
    ) -> None:
        super().__init__(
            client,
            directory=showing.directory,
            say=say,
            note=note,
            pause_seconds=showing.pause_seconds,
        )
        self._demo = showing.demo
        self._gallery = gallery

    @property
    def top_kinds(self) -> tuple[ResourceType, ...]:
        """Those whose objects stand at the top."""
        return tuple(each.resource_type for each in self._demo.kinds)

    async def prepare(self) -> tuple[ResourceType, ...]:
        """Have the server know its kinds; gives all that are to be looked at."""
        own = [each for each in self._demo.kinds if each.declared_crd is not None]
        await install(self.client, crds_of(own))
        return (*self.top_kinds, *(each.resource_type for each in self._demo.below))

    async def tell(self) -> None:
        """All of it, from beginning to end."""
        await self._demo.story(self)
        await self.look()

    async def look(self) -> None:
        """Leave time to look, once there is to be seen what was waited for."""
        await self._gallery.catch_up()
        await super().look()
