"""``python -m tests.real.foreign.building``: have the client-go operator built, and say where."""

import sys
from pathlib import Path

from bench.go_programs import GoProgram

CLIENT_GO_GREETER = GoProgram(
    name="greeter",
    family="foreign",
    sources=Path(__file__).with_name("operators") / "client_go",
)

if __name__ == "__main__":
    sys.stdout.write(f"{CLIENT_GO_GREETER.build()}\n")
