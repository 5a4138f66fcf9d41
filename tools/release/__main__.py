"""``python -m tools.release``: build a release in ``dist/`` and check it.

``--python`` names a Python on which the wheels are tried, and can be repeated; the default is each
supported one, and a missing one is an error. ``--previous`` names the commit from which a project
is upgraded.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree

from steersman.clock import SystemClock
from tools.pythons.interpreters import Interpreter
from tools.release.artifacts import (
    CHECKSUMS,
    build,
    checksums,
    commit_time,
    export,
    refuse_uncommitted,
    verify_reproducible,
    verify_source_distributions,
)
from tools.release.failure import ReleaseFailure
from tools.release.interpreters import interpreters, refuse_missing
from tools.release.notes import release_notes
from tools.release.sbom import metadata_of, sbom, sbom_name

ROOT = Path(__file__).parents[2]
TRIAL = Path(__file__).with_name("trial.py")


def make_release(out: Path, *, pythons: Sequence[str], previous: str | None) -> None:
    """Build the release of the current commit in ``out``, and check it."""
    refuse_uncommitted(ROOT)
    if not pythons:
        refuse_missing(os.environ)
    epoch = commit_time(ROOT, "HEAD")
    rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="steersman-release-") as scratch:
        home = Path(scratch)
        files = build(export(ROOT, "HEAD", home / "source"), out, epoch=epoch)
        again = build(export(ROOT, "HEAD", home / "again"), home / "second", epoch=epoch)
        verify_reproducible(files, again)
        verify_source_distributions(files, home, epoch=epoch)
        report("built twice with the same bytes, and again from the source distributions")

        wheels = [path for path in files if path.suffix == ".whl"]
        about = [metadata_of(wheel) for wheel in wheels]
        for wheel, metadata in zip(wheels, about, strict=True):
            name = sbom_name(metadata["Name"], metadata["Version"])
            (out / name).write_text(sbom(wheel, epoch=epoch), encoding="utf-8")
        date = datetime.fromtimestamp(epoch, UTC).date().isoformat()
        notes = release_notes(ROOT, about[0]["Version"], date=date)
        (out / "RELEASE_NOTES.md").write_text(notes, encoding="utf-8")
        (out / CHECKSUMS).write_text(checksums(out), encoding="utf-8")
        for line in checksums(out).splitlines():
            report(line)

        found = interpreters(pythons, supported=about[0]["Requires-Python"])
        for interpreter in found:
            try_wheels(interpreter, wheels, older=[])
        if previous is not None:
            source = export(ROOT, previous, home / "previous")
            built = build(source, home / "older", epoch=commit_time(ROOT, previous))
            older = [path for path in built if path.suffix == ".whl"]
            (first,) = interpreters([], supported=metadata_of(older[0])["Requires-Python"])[:1]
            try_wheels(first, wheels, older=older)
            report(f"a project and a cluster of commit {previous} were upgraded")


def try_wheels(interpreter: Interpreter, wheels: list[Path], *, older: list[Path]) -> None:
    """Use the wheels in a new virtual environment of a Python."""
    clock = SystemClock()
    started = clock.monotonic()
    command: list[str | Path] = [interpreter.program, TRIAL, *(path.resolve() for path in wheels)]
    if older:
        command += ["--from", *older]
    finished = subprocess.run(command, check=False)
    took = clock.monotonic() - started
    if finished.returncode:
        raise ReleaseFailure(
            problem=f"the wheels do not work on {interpreter.implementation} {interpreter.version}",
            what_now="The output of the failed command is above.",
        )
    what = "init, upgrade" if older else "init"
    report(
        f"{interpreter.implementation} {interpreter.version}: {what}, make test and"
        f" steersman dev work, {took:.0f} s"
    )


def report(line: str) -> None:
    """Report progress."""
    sys.stderr.write(f"{line}\n")


def main() -> int:
    """Run ``python -m tools.release``; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.release")
    parser.add_argument("--python", action="append", default=[], metavar="PROGRAM")
    parser.add_argument("--previous", metavar="COMMIT")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    arguments = parser.parse_args()
    try:
        make_release(arguments.out, pythons=arguments.python, previous=arguments.previous)
    except ReleaseFailure as failure:
        report(f"error: {failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
