import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
RULES = """
from functools import cache


def errors(spec) -> "list[FieldError]":
    found = []
    if "tested" in spec:
        found.append("tested")
    if "ignored" in spec:
        found.append("ignored")
    if "absent" in spec:
        found.append("absent")
    if "shared" in spec:
        found.append("shared")
    if "cached" in spec:
        found.append("cached")
    return found


@cache
def cached_errors() -> "list[FieldError]":
    return errors({"cached": 1})
"""
IMPORT = """
import pytest
from steersman_cluster.apiserver.builtin_example import cached_errors, errors
"""
TESTS = f"""{IMPORT}

@pytest.fixture(scope="module")
def shared():
    return errors({{"shared": 1}})


def test_errors(shared):
    assert errors({{"tested": 1}}) == ["tested"]
    errors({{"ignored": 1}})


def test_shared(shared):
    assert shared == ["shared"]


def test_cache():
    cached_errors()


def test_cached():
    assert cached_errors() == ["cached"]
"""
PROGRAM = """
import json
import sys
from pathlib import Path

import pytest
from tests.mutation.instrumented_modules import InstrumentedModules
from tests.mutation.mutant_runner import MutantRunner

root = Path.cwd()
modules = InstrumentedModules(root, [root / "steersman_cluster/apiserver/builtin_example.py"])
modules.install()
verdicts = {}
runner = MutantRunner(
    range(len(modules.mutants)),
    lambda number, verdict: verdicts.update({modules.mutants[number][1].deleted: verdict}),
    workers=2,
)
options = ["-p", "no:terminal", "-p", "no:cacheprovider", "-c", "pytest.ini"]
status = pytest.main([*options, "test_rules.py"], plugins=[runner])
Path("verdicts.json").write_text(json.dumps([status, verdicts]))
"""


def run(root: Path, *, rules: str = RULES, tests: str = TESTS) -> tuple[int, dict[str, str]]:
    """The exit status of pytest, and the verdict of each mutant of an example."""
    package = root / "steersman_cluster/apiserver"
    package.mkdir(parents=True)
    (package / "builtin_example.py").write_text(rules)
    (root / "test_rules.py").write_text(tests)
    (root / "pytest.ini").write_text("[pytest]\n")
    subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path += [{str(ROOT)!r}]\n{PROGRAM}"],
        cwd=root,
        env={"PYTHONPATH": str(root)},
        check=True,
        capture_output=True,
    )
    status, verdicts = json.loads((root / "verdicts.json").read_text())
    return status, verdicts


def test_a_mutant_is_killed_if_a_test_that_reaches_it_fails(tmp_path: Path) -> None:
    status, verdicts = run(tmp_path)

    assert status == 0
    assert verdicts == {
        'found.append("tested")': "killed",
        'found.append("ignored")': "survives",
        'found.append("absent")': "survives unreached",
        'found.append("shared")': "killed",
        'found.append("cached")': "killed",
        'errors({"cached": 1})': "killed",
    }


def test_no_mutant_runs_if_a_test_fails_without_one(tmp_path: Path) -> None:
    status, verdicts = run(tmp_path, tests=TESTS.replace('["tested"]', "[]"))

    assert status != 0
    assert verdicts == {}


def test_no_mutant_runs_if_an_import_reaches_a_rule(tmp_path: Path) -> None:
    status, verdicts = run(tmp_path, rules=f"{RULES}\nerrors({{'tested': 1}})\n")

    assert status != 0
    assert verdicts == {}


def test_a_test_that_fails_alone_without_a_mutant_kills_none(tmp_path: Path) -> None:
    passes_once = """
ran = []


def test_rule():
    errors({"tested": 1})
    ran.append(1)
    assert len(ran) == 1
"""

    status, verdicts = run(tmp_path, tests=f"{IMPORT}{passes_once}")

    assert status != 0
    assert "killed" not in verdicts.values()
