"""Counts the instructions of a process between its marks, with valgrind."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness.child_processes import ProcessTimeout, child, child_environ, deadline
from bench.instructions.workloads import WORKLOADS
from steersman.errors import SteersmanError

# Imports need a separate program, in which no module is imported yet.
NAMES = ("import", *WORKLOADS)

# Longer than any workload takes, also on a busy machine.
TIMEOUT_SECONDS = 1800.0

TOTALS = re.compile(r"^totals: (\d+)$", re.MULTILINE)


class CountingFailed(SteersmanError):
    """valgrind is missing, or has failed."""


def counted(workload: str) -> Mapping[str, float]:
    """The instructions of one operation, for each operation of the workload."""
    with TemporaryDirectory(prefix="steersman-instructions-") as directory:
        script, dumps = Path(directory) / "script", Path(directory) / "count"
        counting = valgrind(dumps, path=os.environ.get("PATH", os.defpath))
        if workload == "import":
            command = ["-m", "bench.instructions.import_workload"]
            # This run writes the bytecode.
            _run([sys.executable, *command])
        else:
            perform = ["-m", "bench.instructions.workload_run"]
            _run([sys.executable, *perform, "record", workload, str(script)])
            command = [*perform, "replay", workload, str(script)]
        marked = json.loads(_run([*counting, sys.executable, *command]))
        return counts_between(marked, dumps)


def counts_between(marked: Sequence[tuple[str, int]], dumps: Path) -> Mapping[str, float]:
    """The instructions between two marks, divided by the number of operations."""
    # The first file has the counts before the first mark. The file without a number has those after
    # the last mark.
    files = [dumps.with_name(f"{dumps.name}.{number}") for number in range(2, len(marked) + 1)]
    found = {}
    for (name, count), file in zip(marked, files, strict=False):
        total = TOTALS.search(file.read_text()) if file.exists() else None
        if total is None:
            raise CountingFailed(
                "valgrind has not found the marks: it needs the symbol getppid of libc."
            )
        if name:
            found[name] = int(total[1]) / count
    return found


def valgrind(dumps: Path, *, path: str) -> Sequence[str]:
    """The prefix of a command that makes valgrind write a file of ``dumps`` at each mark."""
    found = shutil.which("valgrind", path=path)
    if found is None:
        raise CountingFailed(
            "valgrind is not installed. Install it, for example with `apt install valgrind` or"
            " `dnf install valgrind`."
        )
    # Without randomized addresses, because the order of a set of objects depends on them.
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
    # A fixed environment, because its length moves the stack.
    environ = {
        "PATH": os.defpath,
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "PYTHONPYCACHEPREFIX": child_environ()["PYTHONPYCACHEPREFIX"],
    }
    with child(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, environ=environ) as process:
        try:
            with deadline(process, "exit", seconds=TIMEOUT_SECONDS):
                output, said = process.communicate()
        except ProcessTimeout as error:
            raise CountingFailed(str(error)) from error
    if process.returncode != 0:
        ended = f"{' '.join(command)} exited with status {process.returncode}"
        raise CountingFailed(f"{ended}:\n{said.decode(errors='replace')}")
    return output.decode()
