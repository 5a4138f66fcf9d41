"""Functions that several commands share: progress messages and lists of files."""

import threading
from io import StringIO

import pytest

from steersman.cli.commands.common import echo_files, working

LONG = 3600.0


class Terminal(StringIO):
    """A stream that claims to be a terminal, and records when it is written to."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        self.written.set()


def test_a_long_step_is_shown_on_a_terminal_and_erased_at_its_end() -> None:
    terminal = Terminal()

    with working("generating", stream=terminal, patience_seconds=0.0):
        terminal.written.wait()
        meanwhile = terminal.getvalue()

    assert meanwhile == "generating …"
    assert terminal.getvalue() == "generating …\r\x1b[K"


def test_a_short_step_is_not_shown() -> None:
    terminal = Terminal()

    with working("generating", stream=terminal, patience_seconds=LONG):
        pass

    assert terminal.getvalue() == ""


def test_a_pipe_gets_no_progress_output() -> None:
    pipe = StringIO()

    with working("generating", stream=pipe, patience_seconds=0.0):
        pass

    assert pipe.getvalue() == ""


def test_many_files_are_counted_by_directory(capsys: pytest.CaptureFixture[str]) -> None:
    many = [f"deploy/chart/templates/{number}.yaml" for number in range(20)]

    echo_files({"written": [*many, "docs/api.md"], "removed": ["old.yaml"]}, output=None)

    assert capsys.readouterr().err == (
        "written  deploy/chart/  (20 files)\nwritten  docs/api.md\nremoved  old.yaml\n"
    )
