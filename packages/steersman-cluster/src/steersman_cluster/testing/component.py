"""One process of a control plane, which tests may pause, stop and start again."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from steersman.clock import Clock
from steersman_cluster.errors import ControlPlaneError
from steersman_cluster.testing.enclosure import Enclosure, tail

# How often a process that has been started is asked whether it is ready.
POLL_SECONDS = 0.02


class Component:
    """A process that runs while a block does; ``ready`` says whether it answers."""

    #                                 ┌──paused()───▶ frozen
    #   gone ──running()──▶ running ──┼──stopped()──▶ gone      and back, as each block ends
    #                                 └──crashed()──▶ gone

    def __init__(
        self,
        arguments: Sequence[str | Path],
        *,
        enclosure: Enclosure,
        ready: Callable[[], bool],
        clock: Clock,
        start_seconds: float,
        grace_seconds: float,
    ) -> None:
        self.name = Path(arguments[0]).name
        self.log_file = enclosure.directory / f"{self.name}.log"
        self._arguments = arguments
        self._enclosure = enclosure
        self._ready = ready
        self._clock = clock
        self._start_seconds = start_seconds
        self._grace_seconds = grace_seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __repr__(self) -> str:
        state = "not running" if self.pid is None else f"process {self.pid}"
        return f"<Component {self.name}, {state}>"

    @property
    def pid(self) -> int | None:
        """The process id, while it runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    @contextmanager
    def running(self) -> Iterator[Self]:
        """Start it, enter the block once it is ready, stop it when the block ends."""
        try:
            self._start()
            yield self
        finally:
            self._stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Freeze it (SIGSTOP) while the block runs: it holds its connections, and says nothing."""
        self._signal(signal.SIGSTOP)
        if (pid := self.pid) is not None:
            # The signal is on its way; this returns once it has arrived.
            os.waitpid(pid, os.WUNTRACED)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop it in good order; start it again when the block ends, and wait until it is ready."""
        self._stop()
        try:
            yield
        finally:
            self._start()

    @contextmanager
    def crashed(self) -> Iterator[None]:
        """Kill it, and start it again when the block ends."""
        self._signal(signal.SIGKILL)
        with self.stopped():
            yield

    def restart(self) -> None:
        """Stop it and start it again: seconds, so use a thread where an event loop should go on."""
        with self.stopped():
            pass

    def _start(self) -> None:
        started_at = self._clock.monotonic()
        process = self._process = self._enclosure.start(
            self._arguments,
            log=self.log_file,
            # Nothing of ours: etcd takes settings from ETCD_… variables, Go a proxy from others.
            environ={"HOME": str(self._enclosure.directory)},
        )
        while True:
            try:
                status = process.wait(timeout=POLL_SECONDS)
            except subprocess.TimeoutExpired:
                if self._ready():
                    return
            else:
                raise self._did_not_start(f"ended with status {status} before it was ready")
            if self._clock.monotonic() - started_at > self._start_seconds:
                raise self._did_not_start(f"was not ready after {self._start_seconds:g} s")

    def _did_not_start(self, what_happened: str) -> ControlPlaneError:
        return ControlPlaneError(
            problem=f"{self.name} {what_happened}",
            what_now="See what it said last:",
            log_tail=tail(self.log_file),
        )

    def _stop(self) -> None:
        if self._process is None:
            return
        self._signal(signal.SIGTERM)
        # A paused process would take the signal only when it goes on.
        self._signal(signal.SIGCONT)
        try:
            self._process.wait(timeout=self._grace_seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
