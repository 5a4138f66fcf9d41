"""Test suites in Go that start their own control plane, from KUBEBUILDER_ASSETS.

One is ours, the others are controller-runtime's own, taken from its module as they are.
``python -m tests.real.foreign.go_suites`` runs all of them on both servers, and says what differs.
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
# What the page for those who come from Go shows beside ours.
COMING_FROM_GO_SOURCES = Path(__file__).with_name("operators") / "controller_runtime"
CONTROLLER_RUNTIME = "sigs.k8s.io/controller-runtime"

# For one suite; the slowest takes two minutes.
RUN_SECONDS = 400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Which tests passed, and what those said that failed."""

    passed: frozenset[str]
    failed: Mapping[str, str]
    log: str

    def __or__(self, other: "Outcome") -> "Outcome":
        passed = self.passed | other.passed
        failed = {name: said for name, said in other.failed.items() if name not in passed}
        return Outcome(passed=passed, failed=failed, log=other.log)


class GoSuite:
    """The tests of one package, as one program."""

    def __init__(self, package: str = "") -> None:
        self.package = package

    def __str__(self) -> str:
        return self.package.replace("/", "-") or "ours"

    @property
    def program(self) -> Path:
        """Where it is, once it is built."""
        if not self.package:
            return GoProgram(name=f"{self}.test", family="foreign", sources=SOURCES).path
        # go.mod determines all third-party code.
        digest = sha256((SOURCES / "go.mod").read_bytes()).hexdigest()[:16]
        return cache_directory(os.environ) / "foreign" / digest / f"{self}.test"

    @cached_property
    def home(self) -> Path:
        """Where it is run: beside its test data."""
        if not self.package:
            return SOURCES
        found = _go("mod", "download", "-json", CONTROLLER_RUNTIME, at=SOURCES)
        return Path(json.loads(found)["Dir"]) / self.package

    def build(self) -> Path:
        """Where it is; built first, where no client has."""
        program = self.program
        if program.exists():
            return program
        program.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".building-", dir=program.parent) as workshop:
            unfinished = Path(workshop) / program.name
            flags = ("-mod=readonly", "-ldflags=-s -w", f"-o={unfinished}")
            _go("test", "-c", *flags, ".", at=self.home)
            unfinished.replace(program)
        return program

    def run(self, assets: Path, *, temporary: Path) -> Outcome:
        """What comes of it with the programs in ``assets``."""
        report = temporary / "report.json"
        report.unlink(missing_ok=True)
        asked = [f"-ginkgo.json-report={report}"] if self.package else []
        finished = subprocess.run(
            [self.program, "-test.v", *asked],
            cwd=self.home,
            env={**os.environ, ASSETS_VARIABLE: str(assets), "TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=RUN_SECONDS,
        )
        _end_what_is_left(temporary)
        log = finished.stdout.decode(errors="replace")
        if asked and not report.exists():
            return Outcome(passed=frozenset(), failed={"the suite": log[-2000:]}, log=log)
        results = list(_ginkgo(json.loads(report.read_bytes())) if asked else _plain(log))
        failed = {name: why for name, why in results if why is not None}
        passed = frozenset(name for name, _ in results if name not in failed)
        return Outcome(passed=passed, failed=failed, log=log)


class SiteSuite(GoSuite):
    """The tests of the operator that the page for those who come from Go shows."""

    def __str__(self) -> str:
        return "site"

    @property
    def program(self) -> Path:
        """Where it is, once it is built."""
        return GoProgram(name="site.test", family="foreign", sources=COMING_FROM_GO_SOURCES).path

    @cached_property
    def home(self) -> Path:
        """Where it is run: beside the definition of Sites."""
        return COMING_FROM_GO_SOURCES / "site"


def _end_what_is_left(temporary: Path) -> None:
    """Some suites forget what they have started, which has its files where they had theirs."""
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = each.read_bytes()
        except OSError:
            continue  # it has ended by itself
        if f"={temporary}/k8s_test_framework_".encode() in command:
            os.kill(int(each.parent.name), signal.SIGTERM)


def _go(*arguments: str, at: Path) -> str:
    go = shutil.which("go")
    if go is None:
        raise SystemExit("error: test suites have to be built, and there is no `go`")
    return subprocess.run(
        [go, *arguments],
        cwd=at,
        # A go.work in some directory above would put its own modules in place of these.
        env={**os.environ, "GOWORK": "off"},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout


def _ginkgo(report: list[dict[str, Any]]) -> Iterator[tuple[str, str | None]]:
    """Each test, and why it failed; None: it did not."""
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
        yield found[2], None if found[1] == "PASS" else _said_before(log, found.start())


def _said_before(log: str, position: int) -> str:
    return "\n".join(log[:position].splitlines()[-5:])


OURS = GoSuite()
SITE = SiteSuite()
# Those of controller-runtime that ask most of a server for the time that they take.
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
    """Run every suite on both; 0 if all that passes on the real one passes on ours."""
    real = find_binaries(environ=os.environ).directory
    status = 0
    with TemporaryDirectory(prefix="steersman-suites-") as directory:
        temporary = Path(directory)
        embedded = write_assets(temporary / "assets", search_path=os.environ.get("PATH")).directory
        for suite in (OURS, *QUICK, *SLOW):
            suite.build()
            there = suite.run(real, temporary=temporary)
            here = suite.run(embedded, temporary=temporary)
            missing = sorted(there.passed - here.passed)
            status |= bool(missing)
            sys.stdout.write(f"{suite}: {len(there.passed)} real, {len(missing)} fail embedded\n")
            for name in missing:
                sys.stdout.write(f"  {name}\n    {here.failed.get(name, 'not run')[:300]}\n")
            sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main())
