"""``python -m bench.peers.building``: have the informer with controller-runtime built, say where.

It appears in the cache directory by one rename, under a digest of its sources: what is there is
whole, and built from them.
"""

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from steersman.testing.programs import cache_directory

SOURCES = Path(__file__).with_name("controller_runtime")


def controller_runtime_informer() -> Path:
    """Where the program is; built first, where nobody has: some minutes of CPU."""
    digest = sha256()
    for source in sorted(SOURCES.iterdir()):
        digest.update(source.read_bytes())
    program = cache_directory(os.environ) / "peers" / digest.hexdigest()[:16] / "informer"
    if not program.exists():
        _build(program)
    return program


def version_of(module: str) -> str:
    """Which version of ``module`` is built in."""
    for line in (SOURCES / "go.mod").read_text().splitlines():
        words = line.split()
        if module in words:
            return words[words.index(module) + 1].removeprefix("v")
    raise LookupError(f"go.mod does not require {module}")


def _build(program: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise SystemExit("error: an informer with controller-runtime has to be built with `go`")
    program.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".building-", dir=program.parent) as workshop:
        unfinished = Path(workshop) / program.name
        subprocess.run(
            [go, "build", "-mod=readonly", "-trimpath", "-ldflags=-s -w", "-o", unfinished, "."],
            cwd=SOURCES,
            # A go.work in some directory above would put its own modules in place of these.
            env={**os.environ, "GOWORK": "off"},
            check=True,
        )
        unfinished.replace(program)


if __name__ == "__main__":
    sys.stdout.write(f"{controller_runtime_informer()}\n")
