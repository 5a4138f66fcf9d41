"""Implements ``steersman demo``: runs the steps of an example's demo beside its operator."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from steersman.cli import install_crds
from steersman.client import Client
from steersman.manifests import crds_of
from steersman.names import ResourceType
from steersman.view import ObjectView
from steersman_cluster.demos import Demo, DemoContext


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions:
    """A demo, the directory of its files, and the length of the pause after each of its steps."""

    demo: Demo
    directory: Path
    pause_seconds: float


class DemoRun(DemoContext):
    """A demo that runs on a cluster whose objects are shown in ``view``."""

    def __init__(
        self,
        options: DemoOptions,
        client: Client,
        view: ObjectView,
        *,
        say: Callable[[str], None],
        note: Callable[[str], None],
    ) -> None:
        super().__init__(
            client,
            directory=options.directory,
            say=say,
            note=note,
            pause_seconds=options.pause_seconds,
        )
        self._demo = options.demo
        self._view = view

    @property
    def top_kinds(self) -> tuple[ResourceType, ...]:
        """Return the kinds whose objects are shown as the roots of trees."""
        return tuple(each.resource_type for each in self._demo.kinds)

    async def prepare(self) -> tuple[ResourceType, ...]:
        """Install the CRDs of the demo's custom resources, and return all kinds to show."""
        own = [each for each in self._demo.kinds if each.declared_crd is not None]
        await install_crds(self.client, crds_of(own))
        return (*self.top_kinds, *(each.resource_type for each in self._demo.below))

    async def run(self) -> None:
        """Run all steps in order."""
        await self._demo.steps(self)
        await self.pause()

    async def pause(self) -> None:
        """Wait until the view shows the current objects, then pause."""
        await self._view.catch_up()
        await super().pause()
