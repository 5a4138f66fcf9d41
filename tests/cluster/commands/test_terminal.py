"""``steersman dev`` and ``demo`` on a pseudo terminal."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cluster.programs import END_SECONDS, OPERATOR, PROGRAM, SAMPLE, environment

pytestmark = pytest.mark.programs

OTHER_PAGE, FIRST_PAGE = "\x1b[?1049h", "\x1b[?1049l"
GREEN = "\x1b[32m"


class Terminal:
    """A program on a pseudo terminal, and its output."""

    def __init__(self, process: subprocess.Popen[bytes], end: int) -> None:
        self.process = process
        self.text = ""
        self._end = end
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._end, 65536)
            except OSError:  # the other end is closed
                data = b""
            with self._more:
                self.text += data.decode(errors="replace")
                self._more.notify_all()
            if not data:
                return

    def until(self, pattern: str) -> None:
        with self._more:
            if not self._more.wait_for(lambda: re.search(pattern, self.text), END_SECONDS):
                raise AssertionError(f"no {pattern} in {self.text}")

    def ended(self) -> int:
        status = self.process.wait(timeout=END_SECONDS)
        self._reader.join(timeout=END_SECONDS)
        return status


@contextmanager
def on_a_terminal(home: Path, *command: str, **environ: str) -> Iterator[Terminal]:
    (home / "operator.py").write_text(OPERATOR, encoding="utf-8")
    (home / "app.yaml").write_text(SAMPLE, encoding="utf-8")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    unwanted = {"COLUMNS", "LINES", "NO_COLOR"}
    given = {name: text for name, text in environment().items() if name not in unwanted}
    process = subprocess.Popen(
        [*PROGRAM, *(command or ("dev", "operator.py", "--apply=app.yaml"))],
        cwd=home,
        env={**given, "TERM": "xterm", **environ},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    with process:
        try:
            yield Terminal(process, ours)
        finally:
            process.kill()
            os.close(theirs)
            os.close(ours)


def test_a_terminal_shows_a_colored_tree_and_is_restored_at_the_end(
    tmp_path: Path,
) -> None:
    with on_a_terminal(tmp_path) as terminal:
        terminal.until("running for")
        terminal.until("└─ ConfigMap one")
        terminal.process.send_signal(signal.SIGINT)
        terminal.until("have stopped")

    assert terminal.text.startswith(OTHER_PAGE)
    assert FIRST_PAGE in terminal.text
    assert terminal.text.rstrip().endswith("The operator and its cluster have stopped.")
    assert GREEN in terminal.text


def test_without_color_the_output_is_complete(tmp_path: Path) -> None:
    with on_a_terminal(tmp_path, NO_COLOR="1") as terminal:
        terminal.until(r"ConfigMap one +ready")
        terminal.process.send_signal(signal.SIGINT)
        terminal.until("have stopped")

    assert GREEN not in terminal.text


def test_the_steps_of_a_demo_stay_on_the_terminal_after_its_end(tmp_path: Path) -> None:
    # Longer than a screen update, so that each step is shown.
    with on_a_terminal(tmp_path, "demo", "--pause=0.4") as terminal:
        terminal.until("lists the others")

    view, _, rest = terminal.text.partition(FIRST_PAGE)
    assert "└─ Service nginx-app" in view
    steps = re.findall("^» (.+)\r$", rest, re.MULTILINE)
    assert len(steps) > 3
    assert all(each in view for each in steps)
