"""Counts what a process does between its marks, with valgrind."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness.children import Hung, at_most, child, child_environ
from bench.instructions.workloads import WORKLOADS
from steersman.errors import SteersmanError

# Imports can only be counted where nothing is imported yet, in a program of their own.
NAMES = ("import", *WORKLOADS)

# Longer than any of them takes, however busy the machine is.
PATIENCE_SECONDS = 1800.0

TOTALS = re.compile(r"^totals: (\d+)$", re.MULTILINE)


class CannotCount(SteersmanError):
    """There is no valgrind, or it did not come to an end."""


def counted(workload: str) -> Mapping[str, float]:
    """Instructions for each thing that the workload does, by what that is."""
    with TemporaryDirectory(prefix="steersman-instructions-") as directory:
        script, dumps = Path(directory) / "script", Path(directory) / "count"
        counting = valgrind(dumps, path=os.environ.get("PATH", os.defpath))
        if workload == "import":
            command = ["-m", "bench.instructions.importing"]
            # So that bytecode is there to be found.
            _run([sys.executable, *command])
        else:
            perform = ["-m", "bench.instructions.perform"]
            _run([sys.executable, *perform, "record", workload, str(script)])
            command = [*perform, "replay", workload, str(script)]
        marked = json.loads(_run([*counting, sys.executable, *command]))
        return between(marked, dumps)


def between(marked: Sequence[tuple[str, int]], dumps: Path) -> Mapping[str, float]:
    """What was counted from each mark to the next, for one of those things."""
    # The first file has what came before all marks; the last, without a number, what came after.
    files = [dumps.with_name(f"{dumps.name}.{number}") for number in range(2, len(marked) + 1)]
    found = {}
    for (name, count), file in zip(marked, files, strict=False):
        total = TOTALS.search(file.read_text()) if file.exists() else None
        if total is None:
            raise CannotCount("valgrind has not seen the marks: it finds no getppid in libc here.")
        if name:
            found[name] = int(total[1]) / count
    return found


def valgrind(dumps: Path, *, path: str) -> Sequence[str]:
    """What to put before a command, so that each of its marks has a file of ``dumps``."""
    found = shutil.which("valgrind", path=path)
    if found is None:
        raise CannotCount(
            "valgrind is not there, which counts the instructions. Install it with the package"
            " manager of this machine: apt install valgrind, dnf install valgrind."
        )
    # At the same addresses each time, because a set of objects is in the order of those.
    still = shutil.which("setarch", path=path)
    return [
        *([still, "--addr-no-randomize"] if still else []),
        found,
        "--quiet",
        "--tool=callgrind",
        "--dump-before=getppid",
        f"--callgrind-out-file={dumps}",
    ]


def _run(command: Sequence[str]) -> str:
    # With nothing of this shell's in it: the length of the environment moves the stack.
    environ = {
        "PATH": os.defpath,
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "PYTHONPYCACHEPREFIX": child_environ()["PYTHONPYCACHEPREFIX"],
    }
    with child(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, environ=environ) as process:
        try:
            with at_most(process, "come to its end", seconds=PATIENCE_SECONDS):
                output, said = process.communicate()
        except Hung as error:
            raise CannotCount(str(error)) from error
    if process.returncode != 0:
        ended = f"{' '.join(command)} ended with {process.returncode}"
        raise CannotCount(f"{ended}:\n{said.decode(errors='replace')}")
    return output.decode()
