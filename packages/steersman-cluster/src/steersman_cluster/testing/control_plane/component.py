"""A process of a control plane, which a test can pause, stop and restart."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from steersman.clock import Clock
from steersman_cluster.errors import ControlPlaneError
from steersman_cluster.testing.control_plane.sandbox import Sandbox, tail

# The interval at which a started process is asked whether it is ready.
POLL_SECONDS = 0.02


class Component:
    """A process of a control plane; ``ready`` is called to check whether the process responds."""

    #                                 ┌──paused()───▶ frozen
    #   gone ──running()──▶ running ──┼──stopped()──▶ gone      and back, as each block ends
    #                                 └──crashed()──▶ gone

    def __init__(
        self,
        arguments: Sequence[str | Path],
        *,
        sandbox: Sandbox,
        ready: Callable[[], bool],
        clock: Clock,
        start_seconds: float,
        grace_seconds: float,
    ) -> None:
        self.name = Path(arguments[0]).name
        self.log_file = sandbox.directory / f"{self.name}.log"
        self._arguments = arguments
        self._sandbox = sandbox
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
        """Return the process id while the process runs, otherwise ``None``."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    @contextmanager
    def running(self) -> Iterator[Self]:
        """Start the process, enter the block once it is ready, and stop it when the block ends."""
        try:
            self._start()
            yield self
        finally:
            self._stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Freeze the process with SIGSTOP while the block runs, and then resume it.

        A frozen process keeps its connections open and sends nothing.
        """
        self._signal(signal.SIGSTOP)
        if (pid := self.pid) is not None:
            # The signal is delivered asynchronously; this returns once it has arrived.
            os.waitpid(pid, os.WUNTRACED)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the process while the block runs; then start it, and wait until it is ready."""
        self._stop()
        try:
            yield
        finally:
            self._start()

    @contextmanager
    def crashed(self) -> Iterator[None]:
        """Kill the process with SIGKILL; after the block, start it, and wait until it is ready."""
        self._signal(signal.SIGKILL)
        with self.stopped():
            yield

    def restart(self) -> None:
        """Stop the process, start it again, and wait until it is ready.

        This takes seconds and blocks the thread: call it in another thread than that of an event
        loop.
        """
        with self.stopped():
            pass

    def _start(self) -> None:
        started_at = self._clock.monotonic()
        process = self._process = self._sandbox.start(
            self._arguments,
            log=self.log_file,
            # An empty environment: etcd reads ETCD_… variables, and Go reads proxy settings.
            environ={"HOME": str(self._sandbox.directory)},
        )
        while True:
            try:
                status = process.wait(timeout=POLL_SECONDS)
            except subprocess.TimeoutExpired:
                if self._ready():
                    return
            else:
                raise self._did_not_start(f"exited with status {status} before it was ready")
            if self._clock.monotonic() - started_at > self._start_seconds:
                raise self._did_not_start(f"was not ready after {self._start_seconds:g} s")

    def _did_not_start(self, what_happened: str) -> ControlPlaneError:
        return ControlPlaneError(
            problem=f"{self.name} {what_happened}",
            what_now="See its last output:",
            log_tail=tail(self.log_file),
        )

    def _stop(self) -> None:
        if self._process is None:
            return
        self._signal(signal.SIGTERM)
        # A paused process would handle the signal only after it is resumed.
        self._signal(signal.SIGCONT)
        try:
            self._process.wait(timeout=self._grace_seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
