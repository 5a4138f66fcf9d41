"""Where all of ``steersman dev`` comes together: the operator's lives, the objects, the samples."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from steersman.apiserver import ClusterSettings, RunningCluster
from steersman.cache import Start, in_background
from steersman.cli.operator_process import OperatorCommand, operator_process
from steersman.cli.paths import shown_path
from steersman.cli.reports import AtWork, Kinds, Loaded, Report
from steersman.cli.samples import ENDINGS, apply_file
from steersman.cli.saving import LOOK_SECONDS, Saves
from steersman.cli.session import Session
from steersman.client import Client
from steersman.clock import Clock
from steersman.dashboard import Branch, Gallery, Reconciled, branches
from steersman.errors import SteersmanError
from steersman.kinds import apps_v1, batch_v1, core_v1
from steersman.names import ResourceType

# Of what somebody has not read yet; on a screen, nobody reads it at all.
KEPT: Final = 1000

# Where somebody wants it to end by itself: longer than any operator takes to load, on any machine.
START_SECONDS: Final = 60.0

# What comes of those that an operator makes.
BELOW: Final[Mapping[ResourceType, tuple[ResourceType, ...]]] = {
    apps_v1.Deployment.resource_type: (
        apps_v1.ReplicaSet.resource_type,
        core_v1.Pod.resource_type,
    ),
    apps_v1.ReplicaSet.resource_type: (core_v1.Pod.resource_type,),
    apps_v1.StatefulSet.resource_type: (core_v1.Pod.resource_type,),
    apps_v1.DaemonSet.resource_type: (core_v1.Pod.resource_type,),
    batch_v1.Job.resource_type: (core_v1.Pod.resource_type,),
    batch_v1.CronJob.resource_type: (batch_v1.Job.resource_type, core_v1.Pod.resource_type),
}


class Story(Protocol):
    """What happens to an operator while somebody looks."""

    def tell(self) -> Awaitable[None]:
        """All of it, from beginning to end."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Development:
    """What is to be developed, and how: an operator, its files, and the cluster to run it on.

    ``sources`` are directories in which a save starts it again; those of all that it loads are
    added. ``samples`` are directories with objects to apply. It ends by itself ``for_seconds``
    after the operator has started, if they are given, which it has to within ``start_seconds``;
    and with the ``story``, if there is one: called with a client and with whom to tell.
    """

    command: str = "dev"
    target: str
    directory: Path
    sources: tuple[Path, ...]
    cluster: ClusterSettings
    nodes: int = 1
    samples: tuple[Path, ...] = ()
    for_seconds: float | None = None
    start_seconds: float = START_SECONDS
    log_level: str = "warning"
    hint: str = "Nothing to see yet: create an object of its kind with kubectl."
    story: Callable[..., Story] | None = None


class Desk:
    """Where all of it comes together: the session, the objects, and the operator's lives."""

    def __init__(
        self,
        what: Development,
        cluster: RunningCluster,
        gallery: Gallery,
        *,
        client: Client,
        clock: Clock,
    ) -> None:
        self.gallery = gallery
        self.clock = clock
        self.session = Session(
            command=what.command,
            target=what.target,
            # Whole: the shell that it is pasted into is anywhere.
            kubeconfig=str(cluster.kubeconfig.absolute()),
            hint=what.hint,
            started_time=clock.now(),
        )
        # The first life has come to work, or to its end.
        self.started = asyncio.Event()
        # For those who read lines: what the operator wrote and did since they last did.
        self.heard: deque[str] = deque(maxlen=KEPT)
        self.done: deque[str] = deque(maxlen=KEPT)
        self._what = what
        self._client = client
        self._served = asyncio.Event()
        self._loaded: frozenset[Path] = frozenset()
        self._saves = Saves(what.sources, endings=(".py",))
        self._command = OperatorCommand(
            target=what.target,
            directory=what.directory,
            kubeconfig=cluster.kubeconfig,
            log_level=what.log_level,
        )

    @property
    def branches(self) -> tuple[Branch, ...]:
        """What is there of the operator's kinds, and all below."""
        objects = self.gallery.objects
        self.session.forget({each.ref for each in objects})
        return branches(objects, roots=self.session.roots)

    # The operator

    async def keep_running(self) -> None:
        """Start it, and again after each save."""
        saved = ""
        while True:
            self.session.begin(self.clock.now(), saved=saved)
            self.gallery.changed.set()
            async with (
                operator_process(
                    self._command, reported=self._report, said=self._say, clock=self.clock
                ) as process,
                in_background() as start,
            ):
                start(self._see_off(process), name="end of the operator")
                paths = await self._next_save()
            saved = ", ".join(shown_path(each) for each in paths[:2])
            saved += f" and {len(paths) - 2} more" if len(paths) > 2 else ""

    async def _next_save(self) -> tuple[Path, ...]:
        while True:
            paths = await self._saves.next(clock=self.clock)
            # Tests and tools beside it are none of its business; but what does not load may need a
            # file that it never came to.
            if self.session.phase == "does not load" or self._loaded.intersection(paths):
                return paths

    async def _see_off(self, process: asyncio.subprocess.Process) -> None:
        status = await process.wait()
        # What it wrote last is still on its way.
        await self.clock.sleep(LOOK_SECONDS)
        if said := self.session.end(status, self.clock.now()):
            self.heard.append(said)
        self.started.set()
        self.gallery.changed.set()

    def _report(self, report: Report) -> None:
        self.session.hear(report, self.clock.now())
        match report:
            case Loaded(files=files):
                self._loaded = frozenset(map(Path, files))
                self._saves.add(each.parent for each in self._loaded)
            case Kinds(followed=followed):
                self.gallery.follow(_with_all_below(followed))
                self._served.set()
            case Reconciled():
                self.done.append(f"reconciled {report.ref}: {report}")
            case AtWork():
                self.started.set()
        self.gallery.changed.set()

    def _say(self, text: str) -> None:
        self.session.words.append(text)
        self.heard.append(text)
        self.gallery.changed.set()

    # The story

    def start_story(self, start: Start) -> Iterator[asyncio.Task[None]]:
        """What happens to the operator, once it is there; nothing, if there is no story."""
        if self._what.story is not None:
            story = self._what.story(self._client, say=self._caption)
            yield start(self._tell(story), name="story")

    async def _tell(self, story: Story) -> None:
        await self._served.wait()
        await story.tell()

    def _caption(self, text: str) -> None:
        self.session.caption = text
        self.done.append(f"» {text}")
        self.gallery.changed.set()

    # The samples

    async def keep_applied(self) -> None:
        """Apply the samples once their kinds are served, and again what is saved of them."""
        if not self._what.samples:
            return
        saves = Saves(self._what.samples, endings=ENDINGS)
        await self._served.wait()
        paths = saves.files
        while True:
            for path in paths:
                if path.is_file():
                    await self._apply(path)
            paths = await saves.next(clock=self.clock)

    async def _apply(self, path: Path) -> None:
        try:
            applied = await apply_file(self._client, path)
        except SteersmanError as error:
            self._say(f"{shown_path(path)}: {error}")
        else:
            names = ", ".join(map(str, applied)) or "nothing"
            self._say(f"applied {names} from {shown_path(path)}")


def _with_all_below(kinds: Iterable[ResourceType]) -> Iterable[ResourceType]:
    return dict.fromkeys(each for kind in kinds for each in (kind, *BELOW.get(kind, ())))
