"""Where all of ``steersman dev`` comes together: the operator's lives, the objects, the samples."""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from steersman.apiserver import ClusterSettings, RunningCluster
from steersman.cache import Start, in_background
from steersman.cli.demo import Performance, Showing
from steersman.cli.operator_process import OperatorCommand, operator_process
from steersman.cli.paths import shown_path
from steersman.cli.reports import AtWork, Kinds, Loaded, Report
from steersman.cli.saving import LOOK_SECONDS, Saves
from steersman.cli.session import Session
from steersman.client import Client
from steersman.clock import Clock
from steersman.dashboard import Branch, Changes, Gallery, Reconciled, branches
from steersman.demos import ENDINGS, apply_file
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Development:
    """What is to be developed, and how: an operator, its files, and the cluster to run it on.

    ``sources`` are directories in which a save starts it again; those of all that it loads are
    added. ``samples`` are directories with objects to apply. It ends by itself ``for_seconds``
    after the operator has started, if they are given, which it has to within ``start_seconds``;
    and with the story of the ``showing``, if there is one.
    """

    command: str = "dev"
    target: str
    name: str = ""
    directory: Path
    sources: tuple[Path, ...]
    cluster: ClusterSettings
    nodes: int = 1
    samples: tuple[Path, ...] = ()
    for_seconds: float | None = None
    start_seconds: float = START_SECONDS
    log_level: str = "warning"
    hint: str = "Nothing to see yet: create an object of its kind with kubectl."
    showing: Showing | None = None

    @property
    def called(self) -> str:
        """What people know it by."""
        return self.name or self.target


# The levels at which an operator logs that a reconcile has failed.
_LOGS_FAILURES: Final = frozenset({"debug", "info", "warning"})


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
            target=what.called,
            # Whole: the shell that it is pasted into is anywhere.
            kubeconfig=str(cluster.kubeconfig.absolute()),
            hint=what.hint,
            started_time=clock.now(),
        )
        # The first life has come to work, or to its end; and any has come to its end by itself.
        self.started = asyncio.Event()
        self.died = asyncio.Event()
        # The steps of the story so far.
        self.told: list[str] = []
        # For those who read lines: what the operator wrote and did since they last did.
        self.heard: deque[str] = deque(maxlen=KEPT)
        self.done: deque[str] = deque(maxlen=KEPT)
        self._changes = Changes()
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
        self._performance: Performance | None = None
        if what.showing is not None:
            self._performance = Performance(
                what.showing, client, gallery, say=self._caption, note=self._note
            )
            self.session.always_shown = frozenset(each.gvk for each in self._performance.top_kinds)

    @property
    def branches(self) -> tuple[Branch, ...]:
        """What is there of the operator's kinds, and all below."""
        objects = self.gallery.objects
        self.session.forget({each.ref for each in objects})
        return branches(objects, roots=self.session.roots)

    def news(self) -> Iterator[str]:
        """What was done and what has changed since somebody asked."""
        yield from self.done
        self.done.clear()
        yield from self._changes.told(self.branches)

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
        self.died.set()
        self.gallery.changed.set()

    def _report(self, report: Report) -> None:
        if isinstance(report, Reconciled) and self._is_worth_telling(report):
            self.done.append(
                f"reconciled {report.ref}: {report}"
                if self._performance is None
                else report.in_brief
            )
        self.session.hear(report, self.clock.now())
        match report:
            case Loaded(files=files):
                self._loaded = frozenset(map(Path, files))
                self._saves.add(each.parent for each in self._loaded)
            case Kinds(followed=followed):
                self.gallery.follow(_with_all_below(followed))
                self._served.set()
            case AtWork():
                self.started.set()
            case Reconciled():
                pass
        self.gallery.changed.set()

    def _is_worth_telling(self, report: Reconciled) -> bool:
        """Whether it says something that is not on the screen already.

        The operator's own log has a failure with its traceback, and is shown as well. In a story,
        neither the same failure twice nor what changes nothing is worth a line.
        """
        if self._performance is None:
            return not report.error or self._what.log_level not in _LOGS_FAILURES
        before = self.session.reconciles.get(report.ref)
        is_again = before is not None and report.error != "" and report.error == before.error
        return report.is_news and not is_again

    def _say(self, text: str) -> None:
        self.session.words.append(text)
        if self._performance is None:
            self.heard.append(text)
        else:
            # In a story, it is one of those that speak.
            self.done.append(f"operator: {text}")
            self._performance.hear(text)
        self.gallery.changed.set()

    # The story

    async def prepare(self) -> None:
        """Have all there that a story takes for granted, if there is one."""
        if self._performance is not None:
            self.gallery.follow(_with_all_below(await self._performance.prepare()))

    def start_story(self, start: Start) -> Iterator[asyncio.Task[None]]:
        """What is told of the operator, if anything, and the end of it all if that has ended."""
        if self._performance is not None:
            yield start(self._tell(self._performance), name="story")
            yield start(self._lose(), name="loss of the operator")

    async def _tell(self, performance: Performance) -> None:
        try:
            async with self.clock.timeout(self._what.start_seconds):
                await self.started.wait()
        except TimeoutError:
            return
        if self.session.is_running:
            await performance.tell()

    async def _lose(self) -> None:
        await self.died.wait()

    def _caption(self, text: str) -> None:
        # What has changed by now is of the step before.
        self.done.extend(self._changes.told(self.branches))
        if self.session.caption:
            self.done.append("")
        self.done.append(f"» {text}")
        self.told.append(text)
        self.session.caption = text
        self.session.notes.clear()
        self.gallery.changed.set()

    def _note(self, text: str) -> None:
        self.done.append(f"  {text}")
        self.session.notes.append(text)
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
