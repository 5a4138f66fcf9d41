"""``python -m tests.real.foreign.go_programs [NAME…]``: build Go programs, and print their paths.

Without a NAME, it also builds the test suites of other projects.
"""

import sys
from pathlib import Path

from bench.harness.go_programs import GoProgram
from tests.real.foreign.go_suites import COMING_FROM_GO_SOURCES, ENVTEST_SUITE, QUICK, SITE

CLIENT_GO_GREETER = GoProgram(
    name="greeter",
    family="foreign",
    sources=Path(__file__).with_name("operators") / "client_go",
)

# The operators on docs/coming-from-go.md.
COMING_FROM_GO = GoProgram(name="site", family="foreign", sources=COMING_FROM_GO_SOURCES)
GO_PODWATCH = GoProgram(
    name="podwatch", family="foreign", sources=COMING_FROM_GO_SOURCES, package="./podwatch"
)

# Helm's rendering of a chart, and the Operator Framework's validation of a bundle.
_PACKAGING = Path(__file__).with_name("packaging")
CHART = GoProgram(name="chart", family="foreign", sources=_PACKAGING, package="./chart")
BUNDLE = GoProgram(name="bundle", family="foreign", sources=_PACKAGING, package="./bundle")

if __name__ == "__main__":
    names = sys.argv[1:]
    for program in (CLIENT_GO_GREETER, COMING_FROM_GO, GO_PODWATCH, CHART, BUNDLE):
        if not names or program.name in names:
            sys.stdout.write(f"{program.build()}\n")
    for suite in () if names else (ENVTEST_SUITE, SITE, *QUICK):
        sys.stdout.write(f"{suite.build()}\n")
