import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

MODULE = """
def added(number):
    return number + 1
"""
TESTS = """
import importlib.util, os, pytest
spec = importlib.util.spec_from_file_location("adder", os.environ["MODULE"])
adder = importlib.util.module_from_spec(spec)
spec.loader.exec_module(adder)

def test_it_ends(): adder.added(1)
def test_it_adds(): assert adder.added(1) == 2
def test_it_always_fails(): assert False
"""
RUN = """
import sys, pytest
from tests.mutation.runtime.mutant_session import Candidate, MutantSession
module, test = sys.argv[1:]
source = open(module).read()
original = compile(source, module, "exec")

def candidate(body, *tests):
    ids = [f"{test.rpartition('/')[2]}::test_it_{each}" for each in tests]
    mutant = compile(source.replace("return number + 1", body), module, "exec")
    return Candidate(name=body, module=original, mutant=mutant, tests=ids)

session = MutantSession(
    [
        candidate("return number + 1"),
        candidate("return number - 1", "ends", "adds"),
        candidate("return number - 2", "ends"),
        candidate("return number - 3", "always_fails", "ends"),
        candidate("import os; os._exit(3)", "ends"),
        candidate("while True: pass", "ends"),
        candidate("import signal; signal.pause()", "ends"),
        candidate("return number - 4"),
    ],
    number=7,
    workers=2,
    seconds=60,
    test_seconds=2,
    hang_seconds=2,
    report=lambda each, result: print(each.name, result.how, result.ran),
)
options = ["-q", "-s", "-p", "no:cacheprovider", "--rootdir", test.rpartition("/")[0]]
sys.exit(pytest.main([*options, test], plugins=[session]))
"""


def test_a_test_kills_a_mutant_only_if_it_passes_without_the_mutant(tmp_path: Path) -> None:
    module, tests = tmp_path / "adder.py", tmp_path / "test_adder.py"
    module.write_text(MODULE)
    tests.write_text(TESTS)

    run = subprocess.run(
        [sys.executable, "-c", RUN, str(module), str(tests)],
        cwd=ROOT,
        env={"MODULE": str(module), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert [
        each for each in run.stdout.splitlines() if each.startswith(("return", "import", "while"))
    ] == [
        "return number - 1 fails 0",
        "return number - 2 survives 1",
        "return number - 3 survives 1",
        "import os; os._exit(3) crash 0",
        "while True: pass timeout 0",
        "import signal; signal.pause() timeout 0",
        "return number - 4 survives 0",
    ]
