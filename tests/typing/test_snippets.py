"""Both type checkers accept valid code, and report errors for exactly the marked lines.

A snippet in ``accepts/`` has no errors. In ``rejects/``, exactly the lines that end in
``# rejected`` have one. Each checker reads all snippets in one run.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ACCEPTED = sorted(HERE.glob("accepts/*.py"))
REJECTED = sorted(HERE.glob("rejects/*.py"))

# The errors by place, such as "tests/typing/rejects/frozen.py:12".
Errors = dict[str, list[str]]


def run(checker: str, *options: str) -> str:
    command = [sys.executable, "-m", checker, *options]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    # 0 means no errors and 1 means errors; with any other status the checker itself failed.
    assert finished.returncode in (0, 1), finished.stdout + finished.stderr
    return finished.stdout


def place(path: str, line: int) -> str:
    return f"{Path(path).resolve().relative_to(ROOT).as_posix()}:{line}"


def mypy_errors() -> Errors:
    errors: Errors = {}
    snippets = map(str, ACCEPTED + REJECTED)
    report = run("mypy", "--strict", "--no-error-summary", "--show-absolute-path", *snippets)
    for path, line, message in re.findall(r"^(.+?):(\d+): error: (.+)$", report, re.MULTILINE):
        errors.setdefault(place(path, int(line)), []).append(message)
    return errors


def pyright_errors() -> Errors:
    errors: Errors = {}
    # Not as arguments, because the project's settings exclude these files.
    settings = ["--project", str(HERE), "--pythonpath", sys.executable]
    for found in json.loads(run("pyright", "--outputjson", *settings))["generalDiagnostics"]:
        if found["severity"] == "error":
            line = found["range"]["start"]["line"] + 1
            errors.setdefault(place(found["file"], line), []).append(found["message"])
    return errors


def marked_lines() -> set[str]:
    return {
        place(str(path), number)
        for path in REJECTED
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if line.endswith("# rejected")
    }


@pytest.mark.parametrize("errors_of", [mypy_errors, pyright_errors])
def test_exactly_the_marked_lines_are_rejected(errors_of: Callable[[], Errors]) -> None:
    errors = errors_of()

    unexpected = {place: found for place, found in errors.items() if place not in marked_lines()}
    assert unexpected == {}
    assert marked_lines() - errors.keys() == set()


def test_every_snippet_in_rejects_has_a_marked_line() -> None:
    assert ACCEPTED
    assert {path.name for path in REJECTED} == {
        Path(marked.rpartition(":")[0]).name for marked in marked_lines()
    }
