"""``python -m tests.real.foreign.building``: have the client-go operator built, and say where.

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

SOURCES = Path(__file__).with_name("operators") / "client_go"


def client_go_greeter() -> Path:
    """Where the program is, once it is built."""
    digest = sha256()
    for source in sorted(SOURCES.iterdir()):
        digest.update(source.read_bytes())
    return cache_directory(os.environ) / "foreign" / digest.hexdigest()[:16] / "greeter"


def build(program: Path) -> None:
    """Build it: four minutes of CPU, where nothing of client-go is in Go's own cache."""
    go = shutil.which("go")
    if go is None:
        raise SystemExit("error: an operator with client-go has to be built, and there is no `go`")
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
    program = client_go_greeter()
    if not program.exists():
        build(program)
    sys.stdout.write(f"{program}\n")
