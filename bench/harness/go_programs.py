"""Programs in Go that ours are held against, each built from its modules when it is first needed.

One appears in the cache directory by one rename, under a digest of its sources: what is there is
whole, and built from them.
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

# The mark of what a program knows of itself, then that this is text, its length, and the version.
BUILT_WITH = re.compile(rb"\xff Go buildinf:.\x02\x00{16}.go([\w.-]+)", re.DOTALL)

# Longer than it takes with nothing in any cache.
BUILD_SECONDS = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GoProgram:
    """A program whose ``sources`` are a directory with a go.mod; ``family`` is who it is for.

    ``package`` is where below it the program is, if there is more than one.
    """

    name: str
    family: str
    sources: Path
    package: str = "."

    @property
    def path(self) -> Path:
        """Where it is, once it is built."""
        digest = sha256()
        for source in sorted(self.sources.rglob("*")):
            if source.is_file():
                digest.update(source.read_bytes())
        return cache_directory(os.environ) / self.family / digest.hexdigest()[:16] / self.name

    def build(self) -> Path:
        """Where it is; built first, if needed: some minutes of CPU."""
        program = self.path
        if program.exists():
            return program
        go = shutil.which("go")
        if go is None:
            raise SystemExit(f"error: {self.name} has to be built, and there is no `go`")
        program.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".building-", dir=program.parent) as workshop:
            unfinished = Path(workshop) / self.name
            flags = ("-mod=readonly", "-trimpath", "-ldflags=-s -w", f"-o={unfinished}")
            subprocess.run(
                [go, "build", *flags, self.package],
                cwd=self.sources,
                # A go.work in some directory above would put its own modules in place of these.
                env={**os.environ, "GOWORK": "off"},
                check=True,
                timeout=BUILD_SECONDS,
            )
            unfinished.replace(program)
        return program


def go_version_in(program: bytes) -> str | None:
    """Which Go has built it, by what every program of Go's has in it."""
    found = BUILT_WITH.search(program)
    return found[1].decode() if found else None
