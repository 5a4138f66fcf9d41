"""Wheels and source distributions of one commit, with the same bytes at each build."""

import hashlib
import os
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

from tools.release.failure import ReleaseFailure

PROJECTS = ("steersman", "steersman-cluster")

CHECKSUMS = "SHA256SUMS"

# The hooks of PEP 517, without the isolation of pip: constraints.txt pins the build backend.
_HOOKS = """
import sys
from hatchling.build import build_sdist, build_wheel
build_sdist(sys.argv[1])
build_wheel(sys.argv[1])
"""
_WHEEL_HOOK = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"


def git(root: Path, *arguments: str) -> bytes:
    """The output of a git command."""
    finished = subprocess.run(
        ["git", "-C", root, *arguments],  # noqa: S607
        check=False,
        capture_output=True,
    )
    if finished.returncode:
        raise ReleaseFailure(
            problem=f"git {' '.join(arguments)} failed: {finished.stderr.decode().strip()}",
            what_now="Run `make release` in a clone with the whole history:"
            " git fetch --unshallow --tags",
        )
    return finished.stdout


def refuse_uncommitted(root: Path) -> None:
    """Raise an error if a file differs from the commit."""
    changed = git(root, "status", "--porcelain").decode()
    if changed:
        raise ReleaseFailure(
            problem="these files differ from the commit, and a release contains only the commit:\n"
            + changed.rstrip(),
            what_now="Commit or remove them.",
        )


def commit_time(root: Path, commit: str) -> int:
    """The time of a commit, in seconds since 1970."""
    return int(git(root, "log", "-1", "--format=%ct", commit))


def export(root: Path, commit: str, directory: Path) -> Path:
    """Write the files of a commit to a new ``directory``, with files in place of links to them.

    A source distribution with a link to a file outside of it cannot be unpacked.
    """
    archive = git(root, "archive", "--format=tar", commit)
    directory.mkdir(parents=True)
    with tarfile.open(fileobj=BytesIO(archive)) as packed:
        packed.extractall(directory, filter="tar")
    for path in sorted(directory.rglob("*")):
        if path.is_symlink() and path.is_file():
            content = path.read_bytes()
            path.unlink()
            path.write_bytes(content)
    return directory


def build(source: Path, out: Path, *, epoch: int) -> list[Path]:
    """Build both projects of the tree ``source``; return the files, sorted by name."""
    out.mkdir(parents=True, exist_ok=True)
    for project in PROJECTS:
        _run_hooks(_HOOKS, source / "packages" / project, out, epoch=epoch)
    return sorted(out.iterdir())


def _run_hooks(hooks: str, project: Path, out: Path, *, epoch: int) -> None:
    subprocess.run(
        [sys.executable, "-P", "-c", hooks, out],
        cwd=project,
        # Sorted members and fixed modes are the default of hatchling.
        env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)},
        check=True,
        stdout=subprocess.DEVNULL,
    )


def verify_reproducible(files: list[Path], again: list[Path]) -> None:
    """Raise an error unless two builds have the same names and bytes."""
    first, second = ({path.name: digest(path) for path in each} for each in (files, again))
    different = sorted(
        name for name in first.keys() | second.keys() if first.get(name) != second.get(name)
    )
    if different:
        raise ReleaseFailure(
            problem=f"two builds of the same commit differ: {', '.join(different)}",
            what_now="Compare the two with diffoscope.",
        )


def verify_source_distributions(files: list[Path], scratch: Path, *, epoch: int) -> None:
    """Raise an error unless each source distribution builds the wheel beside it."""
    rebuilt: list[Path] = []
    for path in files:
        if path.name.endswith(".tar.gz"):
            with tarfile.open(path) as packed:
                packed.extractall(scratch, filter="data")
            out = scratch / "wheels"
            out.mkdir(exist_ok=True)
            project = scratch / path.name.removesuffix(".tar.gz")
            _run_hooks(_WHEEL_HOOK, project, out, epoch=epoch)
            rebuilt = sorted(out.iterdir())
    verify_reproducible([path for path in files if path.suffix == ".whl"], rebuilt)


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def checksums(directory: Path) -> str:
    """The lines that ``sha256sum --check`` reads, for all other files in ``directory``."""
    files = sorted(path for path in directory.iterdir() if path.name != CHECKSUMS)
    return "".join(f"{digest(path)}  {path.name}\n" for path in files)
