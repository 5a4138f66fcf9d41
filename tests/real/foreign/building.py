"""``python -m tests.real.foreign.building``: have what is in Go built, and say where it is."""

import sys
from pathlib import Path

from bench.go_programs import GoProgram

CLIENT_GO_GREETER = GoProgram(
    name="greeter",
    family="foreign",
    sources=Path(__file__).with_name("operators") / "client_go",
)

if __name__ == "__main__":
    from tests.real.foreign.go_suites import OURS, QUICK

    sys.stdout.write(f"{CLIENT_GO_GREETER.build()}\n")
    for suite in (OURS, *QUICK):
        sys.stdout.write(f"{suite.build()}\n")
