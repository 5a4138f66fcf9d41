"""Go programs for comparison, each built from its modules at its first use.

A program is moved to the cache directory with one rename, under a digest of its sources, so a
program in the cache is complete and current.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from steersman_cluster.testing.control_plane.programs import cache_directory

# The header of the build information in a Go program, and the version.
BUILT_WITH = re.compile(rb"\xff Go buildinf:.\x02\x00{16}.go([\w.-]+)", re.DOTALL)

# Longer than a build with empty caches.
BUILD_SECONDS = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GoProgram:
    """A Go program; ``sources`` is a directory with a go.mod.

    ``family`` is a directory in the cache. ``package`` is the path of the program's package.
    """

    name: str
    family: str
    sources: Path
    package: str = "."

    @property
    def path(self) -> Path:
        """The path of the built program."""
        digest = sha256()
        for source in sorted(self.sources.rglob("*")):
            if source.is_file():
                digest.update(source.read_bytes())
        return cache_directory(os.environ) / self.family / digest.hexdigest()[:16] / self.name

    def build(self) -> Path:
        """Build the program if necessary, which takes minutes of CPU, and return its path."""
        program = self.path
        if program.exists():
            return program
        go = shutil.which("go")
        if go is None:
            raise SystemExit(
                f"error: {self.name} must be built, and `go` is not on the PATH. Install Go."
            )
        program.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".building-", dir=program.parent) as workshop:
            unfinished = Path(workshop) / self.name
            flags = ("-mod=readonly", "-trimpath", "-ldflags=-s -w", f"-o={unfinished}")
            subprocess.run(
                [go, "build", *flags, self.package],
                cwd=self.sources,
                # A go.work in a parent directory would replace these modules.
                env={**os.environ, "GOWORK": "off"},
                check=True,
                timeout=BUILD_SECONDS,
            )
            unfinished.replace(program)
        return program


def go_version_in(program: bytes) -> str | None:
    """The version of Go in the build information of a program."""
    found = BUILT_WITH.search(program)
    return found[1].decode() if found else None
