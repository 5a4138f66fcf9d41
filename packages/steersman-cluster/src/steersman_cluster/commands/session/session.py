"""``DevSession``: a session of ``steersman dev`` with an operator, objects and samples."""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from steersman.cache import Start, background_tasks
from steersman.client import Client
from steersman.clock import Clock
from steersman.errors import SteersmanError
from steersman.kinds import apps_v1, batch_v1, core_v1
from steersman.names import ResourceType
from steersman.view import Branch, ChangeLines, ObjectView, Reconciled, branches
from steersman_cluster.apiserver import ClusterSettings, RunningCluster
from steersman_cluster.commands.session.demo_run import DemoOptions, DemoRun
from steersman_cluster.commands.session.file_watcher import POLL_SECONDS, FileWatcher
from steersman_cluster.commands.session.operator_process import OperatorCommand, operator_process
from steersman_cluster.commands.session.reports import Kinds, Loaded, Report, Running
from steersman_cluster.commands.session.state import SessionState
from steersman_cluster.demos import ENDINGS, apply_file

# Lines that are kept until they are shown; a screen shows none of them.
KEPT_LINES: Final = 1000

# For a session with an end of its own: longer than any operator takes to load, on any machine.
START_SECONDS: Final = 60.0

# The kinds of the objects that controllers create for objects of a built-in kind.
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
class DevOptions:
    """The operator of a session, its files, and the settings of the cluster on which it runs.

    The operator is restarted when a file in one of the directories in ``sources`` is saved, or a
    file that the operator has loaded. ``samples`` are files and directories with objects to apply.
    With ``for_seconds``, the session ends that many seconds after the operator has started, and
    fails if the operator has not started after ``start_seconds``. With a ``demo``, the session ends
    after the demo's last step.
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
    hint: str = "There are no objects yet: create an object of its kind with kubectl."
    demo: DemoOptions | None = None

    @property
    def shown_name(self) -> str:
        """Return the operator's name as messages show it."""
        return self.name or self.target


# The log levels of failed reconciles.
_LOGS_FAILURES: Final = frozenset({"debug", "info", "warning"})


class DevSession:
    """A session of ``steersman dev`` or ``steersman demo``.

    It starts the operator, restarts it after each save, and stores the state that is displayed.
    """

    def __init__(
        self,
        options: DevOptions,
        cluster: RunningCluster,
        view: ObjectView,
        *,
        client: Client,
        clock: Clock,
    ) -> None:
        self.view = view
        self.clock = clock
        self.state = SessionState(
            command=options.command,
            target=options.shown_name,
            # Absolute, because users paste it into a shell that may be in any directory.
            kubeconfig=str(cluster.kubeconfig.absolute()),
            hint=options.hint,
        )
        # ``started``: the first process runs or has ended. ``died``: a process ended by itself.
        self.started = asyncio.Event()
        self.died = asyncio.Event()
        # The steps of the demo so far.
        self.steps: list[str] = []
        # For a view in lines: the operator's output and its actions since the last call of
        # ``news``.
        self.output: deque[str] = deque(maxlen=KEPT_LINES)
        self._actions: deque[str] = deque(maxlen=KEPT_LINES)
        self._changes = ChangeLines()
        self._options = options
        self._client = client
        self._served = asyncio.Event()
        self._loaded: frozenset[Path] = frozenset()
        self._sources = FileWatcher(options.sources, endings=(".py",))
        self._command = OperatorCommand(
            target=options.target,
            directory=options.directory,
            kubeconfig=cluster.kubeconfig,
            log_level=options.log_level,
        )
        self._demo: DemoRun | None = None
        if options.demo is not None:
            self._demo = DemoRun(
                options.demo, client, view, say=self._show_step, note=self._show_note
            )
            self.state.always_shown = frozenset(each.gvk for each in self._demo.top_kinds)

    @property
    def branches(self) -> tuple[Branch, ...]:
        """Return the objects that the operator reconciles, with the objects they own."""
        objects = self.view.objects
        self.state.keep_only({each.ref for each in objects})
        return branches(objects, roots=self.state.roots)

    def news(self) -> Iterator[str]:
        """Yield a line for each output and action of the operator and each changed object.

        Lines that an earlier call has yielded are not repeated.
        """
        yield from self._actions
        self._actions.clear()
        yield from self._changes.lines(self.branches)

    # The operator

    async def keep_running(self) -> None:
        """Start the operator, and restart it after each save, until cancelled."""
        saved = ""
        while True:
            self.state.start(self.clock.now(), saved=saved)
            self.view.changed.set()
            async with (
                operator_process(
                    self._command,
                    on_report=self._take_report,
                    on_output=self._show_output,
                    clock=self.clock,
                ) as process,
                background_tasks() as start,
            ):
                start(self._wait_for_end(process), name="end of the operator")
                paths = await self._next_save()
            saved = ", ".join(shown_path(each) for each in paths[:2])
            saved += f" and {len(paths) - 2} more" if len(paths) > 2 else ""

    async def _next_save(self) -> tuple[Path, ...]:
        while True:
            paths = await self._sources.next(clock=self.clock)
            # A file that the operator does not load, such as a test, does not restart it. But a
            # failed load may not have reached the file that caused the failure.
            if self.state.phase == "does not load" or self._loaded.intersection(paths):
                return paths

    async def _wait_for_end(self, process: asyncio.subprocess.Process) -> None:
        status = await process.wait()
        # Its last lines are still in the pipe.
        await self.clock.sleep(POLL_SECONDS)
        if line := self.state.end(status, self.clock.now()):
            self.output.append(line)
        self.started.set()
        self.died.set()
        self.view.changed.set()

    def _take_report(self, report: Report) -> None:
        if isinstance(report, Reconciled) and self._is_shown(report):
            self._actions.append(
                f"reconciled {report.ref}: {report}" if self._demo is None else report.in_brief
            )
        self.state.update(report, self.clock.now())
        match report:
            case Loaded(files=files):
                self._loaded = frozenset(map(Path, files))
                self._sources.add(each.parent for each in self._loaded)
            case Kinds(followed=followed):
                self.view.follow(_with_kinds_below(followed))
                self._served.set()
            case Running():
                self.started.set()
            case Reconciled():
                pass
        self.view.changed.set()

    def _is_shown(self, report: Reconciled) -> bool:
        """Whether the report contains information that is not already on the screen.

        The operator's log, which is also shown, contains all failures with their tracebacks. A demo
        omits repeated failures, and reconciles that change nothing.
        """
        if self._demo is None:
            return not report.error or self._options.log_level not in _LOGS_FAILURES
        before = self.state.reconciles.get(report.ref)
        is_again = before is not None and report.error != "" and report.error == before.error
        return report.is_news and not is_again

    def _show_output(self, text: str) -> None:
        self.state.output.append(text)
        if self._demo is None:
            self.output.append(text)
        else:
            # A demo shows it on stdout, among its steps.
            self._actions.append(f"operator: {text}")
            self._demo.add_output(text)
        self.view.changed.set()

    # The demo

    async def prepare(self) -> None:
        """If there is a demo, install its kinds and show their objects."""
        if self._demo is not None:
            self.view.follow(_with_kinds_below(await self._demo.prepare()))

    def start_demo(self, start: Start) -> Iterator[asyncio.Task[None]]:
        """If there is a demo, start it; yield each task whose end ends the session."""
        if self._demo is not None:
            yield start(self._run_demo(self._demo), name="demo")
            yield start(self._wait_until_died(), name="loss of the operator")

    async def _run_demo(self, demo: DemoRun) -> None:
        try:
            async with self.clock.timeout(self._options.start_seconds):
                await self.started.wait()
        except TimeoutError:
            return
        if self.state.is_running:
            await demo.run()

    async def _wait_until_died(self) -> None:
        await self.died.wait()

    def _show_step(self, text: str) -> None:
        # The changes until now belong to the step before.
        self._actions.extend(self._changes.lines(self.branches))
        if self.state.caption:
            self._actions.append("")
        self._actions.append(f"» {text}")
        self.steps.append(text)
        self.state.caption = text
        self.state.notes.clear()
        self.view.changed.set()

    def _show_note(self, text: str) -> None:
        self._actions.append(f"  {text}")
        self.state.notes.append(text)
        self.view.changed.set()

    # The samples

    async def keep_applied(self) -> None:
        """Apply the samples once their kinds are served; apply a sample again after each save."""
        if not self._options.samples:
            return
        samples = FileWatcher(self._options.samples, endings=ENDINGS)
        await self._served.wait()
        paths = samples.files
        while True:
            for path in paths:
                if path.is_file():
                    await self._apply(path)
            paths = await samples.next(clock=self.clock)

    async def _apply(self, path: Path) -> None:
        try:
            applied = await apply_file(self._client, path)
        except SteersmanError as error:
            self._show_output(f"{shown_path(path)}: {error}")
        else:
            names = ", ".join(map(str, applied)) or "nothing"
            self._show_output(f"applied {names} from {shown_path(path)}")


def _with_kinds_below(kinds: Iterable[ResourceType]) -> Iterable[ResourceType]:
    return dict.fromkeys(each for kind in kinds for each in (kind, *BELOW.get(kind, ())))


def shown_path(path: Path) -> str:
    """Return ``path``, relative if it is inside the current directory, otherwise absolute."""
    whole = path.absolute()
    here = Path.cwd()
    return str(whole.relative_to(here)) if whole.is_relative_to(here) else str(whole)
