"""Results of test runs: reports, tables and records."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tools.results import Counts, Run, counts_in, run_pytest, table, updated

REPORT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest">
<testcase classname="a" name="one" />
<testcase classname="a" name="two"><failure message="no">long</failure></testcase>
<testcase classname="a" name="three"><error message="no">long</error></testcase>
<testcase classname="a" name="four"><skipped message="needs&#10; git">a.py:1</skipped></testcase>
<testcase classname="a" name="five"><skipped message="needs git">a.py:2</skipped></testcase>
</testsuite></testsuites>
"""


def run(version: str, counts: Counts | None) -> Run:
    facts = {"implementation": "CPython"}
    return Run(
        version=version, counts=counts, status=0, cpu_seconds=61.4, seconds=90.0, facts=facts
    )


def test_a_report_has_a_number_for_each_reason_of_skipped_tests() -> None:
    counts = counts_in(REPORT)

    assert counts == Counts(passed=1, failed=2, skipped={"needs git": 2})


def test_the_report_of_pytest_is_read(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import pytest\n\n\ndef test_a():\n    pass\n\n\ndef test_b():\n    pytest.skip('why')\n"
    )
    report = tmp_path / "report.xml"
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    subprocess.run(
        [*command, "--junit-xml", str(report)],
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # plugins take most of the time
        stdout=subprocess.DEVNULL,
    )

    assert counts_in(report.read_text()) == Counts(passed=1, failed=0, skipped={"why": 1})


def test_the_table_lists_each_version_with_reasons() -> None:
    runs = [run("3.13.0", Counts(passed=12, failed=0, skipped={"needs git": 2}))]
    runs.append(run("3.14.8", None))

    assert table("Python", runs, {"3.15": "not found"}).splitlines() == [
        "Python  passed  failed  skipped  CPU seconds  seconds",
        "3.13.0      12       0        2           61       90",
        "3.14.8       -       -        -           61       90",
        "3.13.0: skipped 2: needs git",
        "3.14.8: not all tests ran; see the output above",
        "3.15: missing: not found",
    ]


def test_a_run_replaces_the_recorded_one_of_its_version_only() -> None:
    older = updated(
        "",
        [run(version, Counts(passed=1, failed=1, skipped={})) for version in ("3.9.1", "3.15.0")],
        committed="2026-01-01",
    )

    newer = updated(
        older,
        [run("3.15.1", Counts(passed=2, failed=0, skipped={"why": 1})), run("3.9.2", None)],
        committed="2026-02-01",
    )

    recorded = json.loads(newer)
    assert [*recorded] == ["3.9", "3.15"]
    assert recorded["3.9"] == json.loads(older)["3.9"]
    assert recorded["3.15"] == {
        "version": "3.15.1",
        "implementation": "CPython",
        "committed": "2026-02-01",
        "passed": 2,
        "failed": 0,
        "skipped": {"why": 1},
    }


FLAKY_SUITE = """
from pathlib import Path
import pytest

def test_flaky():
    seen = Path(__file__).with_name("seen")
    before = seen.exists()
    seen.touch()
    assert before

def test_fails():
    assert False

def test_passes():
    pass

def test_skipped():
    pytest.skip("why")
"""


def test_a_test_that_passes_alone_is_counted_as_passed_and_named_as_flaky(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(FLAKY_SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")

    finished = run_pytest(
        str(tmp_path), version="3.15.0", python=sys.executable, workers=0, environ=os.environ
    )

    skipped = {"why": 1}
    flaky = ["test_suite.test_flaky"]
    assert finished.counts == Counts(passed=2, failed=1, skipped=skipped, flaky=flaky)
    assert finished.status == 1
    assert "3.15.0: flaky: test_suite.test_flaky" in table("Python", [finished], {})
    assert json.loads(updated("", [finished], committed="2026-01-01"))["3.15"]["flaky"] == flaky
