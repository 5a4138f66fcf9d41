"""kubectl in a terminal: the output and the exit status of each step of a session."""

import json
import os
import subprocess
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import sleep  # noqa: TID251 - servers in other processes use the real time
from typing import IO, Any

from steersman.clock import SystemClock
from steersman_cluster.testing import ControlPlane
from tests.real.kubectl_sessions.kubelet import StandInKubelet
from tests.real.kubectl_sessions.scripts import (
    End,
    Kubelet,
    NextSecond,
    Nodes,
    Run,
    Session,
    Start,
    Write,
)

# How often a command with ``~`` is repeated.
ATTEMPTS = 100

# Longer than any step takes on a busy machine.
STEP_SECONDS = 60.0

# With this verbosity, kubectl logs a line with these words when a watch begins.
VERBOSE = "-v=6"
WATCHES = ("watch=true", "200 OK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The exit status and the output of one kubectl."""

    line: int
    arguments: tuple[str, ...]
    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A server, and a directory in which a session may write."""

    cluster: ControlPlane
    directory: Path


def run_session(session: Session, place: Place) -> list[Outcome]:
    """Run a session and return the outcomes of its steps."""
    place.directory.mkdir(parents=True, exist_ok=True)
    terminal = _Terminal(place=place, namespace=session.name)
    terminal.run(Run(line=0, arguments=("create", "namespace", session.name)))
    outcomes: list[Outcome] = []
    with ExitStack() as until_the_end:
        until_the_end.callback(terminal.close)
        kubelet = until_the_end.enter_context(StandInKubelet(place.cluster, namespace=session.name))
        for step in session.steps:
            match step:
                case Run():
                    outcomes.append(terminal.run(step))
                case Write():
                    terminal.write(step)
                case Start():
                    terminal.start(step)
                case End():
                    outcomes.append(terminal.end(step))
                case Kubelet(on=on):
                    kubelet.switch(on=on)
                case NextSecond():
                    _wait_for_the_next_second()
                case Nodes():
                    pass  # the server was started with nodes
    return outcomes


def _wait_for_the_next_second() -> None:
    sleep(1 - SystemClock().now().microsecond / 1e6)


@dataclass(slots=True)
class _Started:
    """A running process and its output so far."""

    step: Start
    process: subprocess.Popen[str]
    stdout: list[str] = field(default_factory=list[str])
    stderr: list[str] = field(default_factory=list[str])
    changed: threading.Condition = field(default_factory=threading.Condition)
    readers: list[threading.Thread] = field(default_factory=list[threading.Thread])

    def follow(self) -> None:
        """Read both outputs in two threads."""
        for pipe, lines in ((self.process.stdout, self.stdout), (self.process.stderr, self.stderr)):
            assert pipe is not None
            reader = threading.Thread(target=self._read, args=(pipe, lines), daemon=True)
            reader.start()
            self.readers.append(reader)

    def _read(self, pipe: IO[str], lines: list[str]) -> None:
        with pipe:
            for line in pipe:
                with self.changed:
                    lines.append(line)
                    self.changed.notify_all()

    def watches(self) -> bool:
        """Whether the server has responded to a watch."""
        return any(all(word in line for word in WATCHES) for line in self.stderr)

    def wait_until_it_watches(self) -> None:
        with self.changed:
            self.changed.wait_for(self.watches, timeout=STEP_SECONDS)

    def wait_for_lines(self, count: int) -> None:
        with self.changed:
            self.changed.wait_for(lambda: len(self.stdout) >= count, timeout=STEP_SECONDS)


@dataclass(slots=True, kw_only=True)
class _Terminal:
    """A directory, an environment and a kubeconfig whose namespace is the session's."""

    place: Place
    namespace: str
    started: dict[str, _Started] = field(default_factory=dict[str, _Started])

    def __post_init__(self) -> None:
        config: dict[str, Any] = json.loads(self.place.cluster.kubeconfig.read_text())
        for context in config["contexts"]:
            context["context"]["namespace"] = self.namespace
        self._kubeconfig.write_text(json.dumps(config))

    def _directory(self, name: str) -> Path:
        directory = self.place.directory / name
        directory.mkdir(exist_ok=True)
        return directory

    @property
    def _kubeconfig(self) -> Path:
        return self.place.directory / "kubeconfig"

    def run(self, step: Run) -> Outcome:
        """Run a step, with repetitions if it has ``until``."""
        outcome = self._once(step)
        if step.until is not None:
            for _ in range(ATTEMPTS):
                if outcome.status == 0 and step.until(outcome.stdout):
                    break
                outcome = self._once(step)
        return outcome

    def _once(self, step: Run) -> Outcome:
        try:
            finished = subprocess.run(
                self._command(step.arguments),
                input=step.stdin,
                cwd=self._directory("work"),
                env=self._environ(dict(step.environ)),
                capture_output=True,
                check=False,
                timeout=STEP_SECONDS,
                encoding="utf-8",
                errors="replace",
            )
        except subprocess.TimeoutExpired as late:
            return Outcome(
                line=step.line,
                arguments=step.arguments,
                status=-1,
                stdout=f"{late.stdout!r}",
                stderr=f"timed out after {STEP_SECONDS:g} s",
            )
        return Outcome(
            line=step.line,
            arguments=step.arguments,
            status=finished.returncode,
            stdout=finished.stdout,
            stderr=finished.stderr,
        )

    def write(self, step: Write) -> None:
        """Write a file for the next steps."""
        path = self._directory("work") / step.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.content, encoding="utf-8")

    def start(self, step: Start) -> None:
        """Start kubectl, and return when its watch has begun."""
        process = subprocess.Popen(
            self._command((*step.arguments, VERBOSE)),
            cwd=self._directory("work"),
            env=self._environ({}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        started = self.started[step.name] = _Started(step, process)
        started.follow()
        started.wait_until_it_watches()

    def end(self, step: End) -> Outcome:
        """Terminate kubectl after so many lines, or wait for its exit."""
        started = self.started.pop(step.name)
        if step.lines is not None:
            started.wait_for_lines(step.lines)
            started.process.terminate()
        try:
            started.process.wait(timeout=STEP_SECONDS)
        except subprocess.TimeoutExpired:
            started.process.kill()
        for reader in started.readers:
            reader.join()
        return Outcome(
            line=step.line,
            arguments=started.step.arguments,
            status=started.process.wait(),
            stdout="".join(started.stdout),
            stderr="".join(started.stderr),
        )

    def close(self) -> None:
        """Kill all processes that still run."""
        for started in self.started.values():
            started.process.kill()
            started.process.wait()

    def _command(self, arguments: tuple[str, ...]) -> list[str | Path]:
        return [self.place.cluster.kubectl_program(), *arguments]

    def _environ(self, more: Mapping[str, str]) -> dict[str, str]:
        return {
            "HOME": str(self.place.directory),
            "KUBECONFIG": str(self._kubeconfig),
            "PATH": os.environ["PATH"],
            "TMPDIR": str(self._directory("tmp")),
            # Garbage collection takes up to a quarter of the CPU of a process that ends so soon.
            "GOGC": "off",
            **more,
        }
