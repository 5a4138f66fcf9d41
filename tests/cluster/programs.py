"""``steersman`` as a process, with its output while it runs."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

# Ends only what hangs: a busy machine can take long to start a process.
END_SECONDS = 120.0

# Like the installed script: the current directory is not on the module path.
PROGRAM = (sys.executable, "-P", "-m", "steersman")

OPERATOR = '''
"""An operator of Settings: each gets a ConfigMap with its size."""

import steersman as sm
from steersman.kinds import core_v1, meta_v1


class Spec(sm.Part):
    size: int = 1


class Status(sm.Part):
    seen: int = 0


class Setting(sm.CustomResource[Spec, Status], group="app.example.com", version="v1"):
    """How many."""


async def reconcile(obj: Setting, ctx: sm.Context) -> sm.Outcome:
    await ctx.apply_owned(
        core_v1.ConfigMap(
            metadata=meta_v1.ObjectMeta(name=obj.name), data={"size": str(obj.spec.size)}
        )
    )
    return sm.Done()


controller = sm.Controller(Setting, reconcile=reconcile, owns=(core_v1.ConfigMap,))
'''

SAMPLE = """
apiVersion: app.example.com/v1
kind: Setting
metadata: {name: one}
spec: {size: 3}
"""


def environment(**more: str) -> Mapping[str, str]:
    ours = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    return {**ours, "COLUMNS": "100", **more}


def steersman(
    *arguments: str | Path, directory: Path, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        cwd=directory,
        env=environment(**environ),
        capture_output=True,
        text=True,
        timeout=END_SECONDS,
        check=False,
    )


class Running:
    """A running command, with every line of its output."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._more = threading.Condition()
        self._is_over = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._more:
                self.lines.append(line.rstrip())
                self._more.notify_all()
        with self._more:
            self._is_over = True
            self._more.notify_all()

    def until(self, pattern: str, *, after: int = 0) -> int:
        """Wait for a line that matches; return the number of the next line."""
        with self._more:
            seen = after
            while True:
                for number in range(seen, len(self.lines)):
                    if re.search(pattern, self.lines[number]):
                        return number + 1
                seen = len(self.lines)
                if self._is_over or not self._more.wait(timeout=END_SECONDS):
                    raise AssertionError(f"no line like {pattern}:\n" + "\n".join(self.lines))

    def end(self, by: signal.Signals = signal.SIGINT) -> str:
        """Stop the command; return its output."""
        self.process.send_signal(by)
        self.process.wait(timeout=END_SECONDS)
        self._reader.join(timeout=END_SECONDS)
        return "\n".join(self.lines)


@contextmanager
def running(*arguments: str | Path, directory: Path, **environ: str) -> Iterator[Running]:
    """A running command with combined output streams; it is killed at the end if it still runs."""
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        cwd=directory,
        env=environment(**environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        try:
            yield Running(process)
        finally:
            process.kill()
