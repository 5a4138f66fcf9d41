"""Test suites in Go that start their own control plane, from KUBEBUILDER_ASSETS.

``envtest_suite`` is in this directory; the others are controller-runtime's, unmodified.
``python -m tests.real.foreign.go_suites`` runs them on both servers and prints the differences.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.harness.go_programs import GoProgram
from steersman_cluster.commands.launchers.assets import write_assets
from steersman_cluster.testing.control_plane.programs import (
    ASSETS_VARIABLE,
    cache_directory,
    find_binaries,
)

SOURCES = Path(__file__).with_name("envtest_suite")
# The operators on docs/coming-from-go.md.
COMING_FROM_GO_SOURCES = Path(__file__).with_name("operators") / "controller_runtime"
CONTROLLER_RUNTIME = "sigs.k8s.io/controller-runtime"

# For one suite; the slowest takes two minutes.
RUN_SECONDS = 400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The tests that passed, and the tests that failed, each with its message."""

    passed: frozenset[str]
    failed: Mapping[str, str]
    log: str

    def __or__(self, other: "Outcome") -> "Outcome":
        passed = self.passed | other.passed
        failed = {name: why for name, why in other.failed.items() if name not in passed}
        return Outcome(passed=passed, failed=failed, log=other.log)


class GoSuite:
    """The tests of one package, as one program."""

    def __init__(self, package: str = "") -> None:
        self.package = package

    def __str__(self) -> str:
        return self.package.replace("/", "-") or "envtest-suite"

    @property
    def program(self) -> Path:
        """The path of the built program."""
        if not self.package:
            return GoProgram(name=f"{self}.test", family="foreign", sources=SOURCES).path
        # go.mod determines all third-party code.
        digest = sha256((SOURCES / "go.mod").read_bytes()).hexdigest()[:16]
        return cache_directory(os.environ) / "foreign" / digest / f"{self}.test"

    @cached_property
    def home(self) -> Path:
        """The working directory, which has the test data."""
        if not self.package:
            return SOURCES
        found = _go("mod", "download", "-json", CONTROLLER_RUNTIME, at=SOURCES)
        return Path(json.loads(found)["Dir"]) / self.package

    def build(self) -> Path:
        """Build the program unless it exists, and return its path."""
        program = self.program
        if program.exists():
            return program
        program.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".building-", dir=program.parent) as directory:
            unfinished = Path(directory) / program.name
            flags = ("-mod=readonly", "-ldflags=-s -w", f"-o={unfinished}")
            _go("test", "-c", *flags, ".", at=self.home)
            unfinished.replace(program)
        return program

    def run(self, assets: Path, *, temporary: Path) -> Outcome:
        """Run the suite with the programs in ``assets``."""
        report = temporary / "report.json"
        report.unlink(missing_ok=True)
        options = [f"-ginkgo.json-report={report}"] if self.package else []
        finished = subprocess.run(
            [self.program, "-test.v", *options],
            cwd=self.home,
            env={**os.environ, ASSETS_VARIABLE: str(assets), "TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=RUN_SECONDS,
        )
        _stop_leftover_processes(temporary)
        log = finished.stdout.decode(errors="replace")
        if options and not report.exists():
            return Outcome(passed=frozenset(), failed={"the suite": log[-2000:]}, log=log)
        results = list(_ginkgo(json.loads(report.read_bytes())) if options else _plain(log))
        failed = {name: why for name, why in results if why is not None}
        passed = frozenset(name for name, _ in results if name not in failed)
        return Outcome(passed=passed, failed=failed, log=log)


class SiteSuite(GoSuite):
    """The tests of the operator on docs/coming-from-go.md."""

    def __str__(self) -> str:
        return "site"

    @property
    def program(self) -> Path:
        """The path of the built program."""
        return GoProgram(name="site.test", family="foreign", sources=COMING_FROM_GO_SOURCES).path

    @cached_property
    def home(self) -> Path:
        """The working directory, which has the definition of Sites."""
        return COMING_FROM_GO_SOURCES / "site"


def _stop_leftover_processes(temporary: Path) -> None:
    """Stop the servers that a suite started in its temporary directory and left running."""
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = each.read_bytes()
        except OSError:
            continue  # the process has exited
        if f"={temporary}/k8s_test_framework_".encode() in command:
            os.kill(int(each.parent.name), signal.SIGTERM)


def _go(*arguments: str, at: Path) -> str:
    go = shutil.which("go")
    if go is None:
        raise SystemExit("error: building the test suites requires `go`")
    return subprocess.run(
        [go, *arguments],
        cwd=at,
        # A go.work in a parent directory would replace these modules.
        env={**os.environ, "GOWORK": "off"},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout


def _ginkgo(report: list[dict[str, Any]]) -> Iterator[tuple[str, str | None]]:
    """Each test, and the reason why it failed, or None."""
    for suite in report:
        for spec in suite["SpecReports"]:
            where = [*(spec["ContainerHierarchyTexts"] or ()), spec["LeafNodeText"]]
            name = " / ".join((*where, spec["LeafNodeType"]))
            if spec["State"] == "passed":
                yield name, None
            elif spec["State"] not in ("skipped", "pending"):
                yield name, spec.get("Failure", {}).get("Message", "") or spec["State"]


def _plain(log: str) -> Iterator[tuple[str, str | None]]:
    for found in re.finditer(r"^--- (PASS|FAIL): (\w+)", log, flags=re.MULTILINE):
        yield found[2], None if found[1] == "PASS" else _lines_before(log, found.start())


def _lines_before(log: str, position: int) -> str:
    return "\n".join(log[:position].splitlines()[-5:])


ENVTEST_SUITE = GoSuite()
SITE = SiteSuite()
# The suites of controller-runtime that cover most of a server in the least time.
QUICK = tuple(
    GoSuite(f"pkg/{name}")
    for name in ("builder", "client", "controller", "envtest", "internal/recorder", "webhook")
)
SLOW = tuple(
    GoSuite(f"pkg/{name}")
    for name in (
        "cache",
        "cluster",
        "controller/controllerutil",
        "handler",
        "internal/controller",
        "manager",
        "manager/internal/integration",
        "metrics/filters",
        "source",
    )
)


def main() -> int:
    """Run all suites on both servers; 0 if all tests that pass on the real one pass embedded."""
    real = find_binaries(environ=os.environ).directory
    status = 0
    with TemporaryDirectory(prefix="steersman-suites-") as directory:
        temporary = Path(directory)
        embedded = write_assets(temporary / "assets", search_path=os.environ.get("PATH")).directory
        for suite in (ENVTEST_SUITE, *QUICK, *SLOW):
            suite.build()
            expected = suite.run(real, temporary=temporary)
            found = suite.run(embedded, temporary=temporary)
            missing = sorted(expected.passed - found.passed)
            status |= bool(missing)
            sys.stdout.write(
                f"{suite}: {len(expected.passed)} real, {len(missing)} fail embedded\n"
            )
            for name in missing:
                sys.stdout.write(f"  {name}\n    {found.failed.get(name, 'not run')[:300]}\n")
            sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main())
