"""``python -m tools.gotypes``: write facts about Kubernetes' Go types that OpenAPI lacks to a file.

Only Go knows how fields are declared, so a small Go program, ``gotypes.go``, reads the types by
reflection. It is built from the modules of the control plane.
"""

import json
import os
import shutil
import subprocess
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

from steersman.openapi import load_all_facts
from steersman_cluster.apiserver.schema.builtin_schemas import GO_TYPES

PROGRAM = Path(__file__).with_suffix(".go")
MODULES = "control_plane_modules/kubernetes"
# The build flags of the control plane, so that most of it is in Go's cache.
FLAGS = ["-mod=readonly", "-trimpath", "-ldflags", "-s -w"]


def printed_by_go() -> dict[str, Any]:
    """The output of the Go program."""
    modules = resources.files("steersman_cluster.testing") / MODULES
    with tempfile.TemporaryDirectory() as directory:
        for name in ("go.mod", "go.sum"):
            (Path(directory) / name).write_bytes((modules / name).read_bytes())
        shutil.copy(PROGRAM, directory)
        printed = subprocess.run(
            [shutil.which("go") or "go", "run", *FLAGS, "."],
            cwd=directory,
            env={**os.environ, "GOWORK": "off"},
            stdout=subprocess.PIPE,
            check=True,
        )
    return dict(json.loads(printed.stdout))


def main() -> None:
    """Write one file, about the types in the OpenAPI facts."""
    found = printed_by_go()
    names = {name for facts in load_all_facts().values() for name in facts["schemas"]}
    types = {name: found["types"].get(name, {}) for name in sorted(names)}
    text = json.dumps({**found, "types": types}, indent=1)
    GO_TYPES.write_text(f"{text}\n")


if __name__ == "__main__":
    main()
