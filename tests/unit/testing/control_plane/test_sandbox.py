"""A sandbox is removed at the end of its block or its process."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from steersman_cluster.testing.control_plane.sandbox import Sandbox, open_sandbox, tail

ENCLOSING = """\
import os, sys
from pathlib import Path
from steersman_cluster.testing.control_plane.sandbox import open_sandbox

with open_sandbox(prefix="sandbox-", inside=Path(sys.argv[1])) as place:
    script = f"echo inside > {sys.argv[2]}; exec sleep 600"
    place.start(["/bin/sh", "-c", script], log=place.directory / "log", environ={})
    sys.stdin.read()
"""


def start(place: Sandbox, script: str) -> subprocess.Popen[bytes]:
    return place.start(["/bin/sh", "-c", script], log=place.directory / "log", environ={})


def test_a_sandbox_is_removed_with_its_contents_when_the_block_raises(tmp_path: Path) -> None:
    processes: list[subprocess.Popen[bytes]] = []

    with suppress(LookupError), open_sandbox(prefix="sandbox-", inside=tmp_path) as place:
        processes.append(start(place, "trap '' TERM INT HUP; sleep 600 & exec sleep 600"))
        raise LookupError

    assert [process.returncode for process in processes] == [-signal.SIGKILL]
    assert list(tmp_path.iterdir()) == []


def test_a_sandbox_is_removed_with_its_contents_when_the_process_is_killed(
    tmp_path: Path,
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    lifeline = tmp_path / "lifeline"
    os.mkfifo(lifeline)
    script = [sys.executable, "-c", ENCLOSING, str(inside), str(lifeline)]
    with subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert lifeline.read_text() == "inside\n"
        assert len(list(inside.iterdir())) == 1

        parent.kill()
        # The watchdog has this pipe open too: the read ends after the cleanup.
        parent.communicate()

    assert list(inside.iterdir()) == []


def test_the_log_tail_has_a_limited_length(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\xff" * 100_000 + b"\nlast")

    assert tail(log, limit_bytes=10) == "�" * 5 + "\nlast"
    assert tail(tmp_path / "no log") == ""
