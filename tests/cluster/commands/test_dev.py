"""``steersman dev`` as people run it, through a pipe."""

import signal
import subprocess
import threading
from contextlib import AbstractContextManager
from io import StringIO
from pathlib import Path
from random import Random

import pytest

from steersman.clock import SystemClock
from steersman.errors import ManagerFailed
from steersman_cluster.apiserver import ClusterSettings
from steersman_cluster.commands.session.runner import run_session
from steersman_cluster.commands.session.session import DevOptions
from tests.cluster.programs import OPERATOR, PROGRAM, SAMPLE, Running, running, steersman
from tests.processes import children, is_running

pytestmark = pytest.mark.programs

APPLIED = "applied Setting default/one from app.yaml"
PAUSE = threading.Event()
MADE = r"ConfigMap default/one, of Setting one: ready"


LIFESPAN = """\
from contextlib import asynccontextmanager
from pathlib import Path

import steersman as sm


class Outside: ...


@asynccontextmanager
async def outside(services):
    print("the lifespan is entered", flush=True)
    yield Outside()
    Path("left").touch()


"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A directory with an operator and a sample, and a place for temporary files."""
    (tmp_path / "temporary").mkdir()
    (tmp_path / "operator.py").write_text(OPERATOR, encoding="utf-8")
    (tmp_path / "app.yaml").write_text(SAMPLE, encoding="utf-8")
    return tmp_path


def dev(home: Path, *arguments: str) -> AbstractContextManager[Running]:
    return running(
        "dev",
        "operator.py",
        "--apply=app.yaml",
        "--kubeconfig=dev.kubeconfig",
        *arguments,
        directory=home,
        TMPDIR=str(home / "temporary"),
    )


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_controller_whose_kind_is_missing_leaves_the_others_running(home: Path) -> None:
    anvils = """
from steersman.kinds import Unstructured

Anvil = Unstructured.of("acme.io/v1", "Anvil")
anvils = sm.Controller(Anvil, reconcile=reconcile, name="anvil")
settings = sm.ManagerSettings(cache_sync_seconds=1.0)
manager = sm.Manager(controllers=[anvils, controller], settings=settings)
"""
    (home / "operator.py").write_text(OPERATOR + anvils, encoding="utf-8")

    with dev(home) as started:
        started.until("operator.py: running")
        started.until(MADE)
        started.until(
            "could not start the controller anvil: these lists did not complete within 1 s"
        )


def test_dev_runs_the_operator_and_prints_each_change_on_a_line(home: Path) -> None:
    finished = steersman("dev", "operator.py", "--apply=app.yaml", "--for=3", directory=home)

    assert finished.returncode == 0
    objects = [line[11:] for line in finished.stdout.splitlines() if "reconciled" not in line]
    assert objects == ["Setting default/one: –", "ConfigMap default/one, of Setting one: ready"]
    assert "reconciled Setting default/one: done in" in finished.stdout
    assert "applied ConfigMap default/one" in finished.stdout
    first, *rest = finished.stderr.splitlines()
    assert first.startswith("export KUBECONFIG=")
    assert rest[-1] == "The operator and its cluster have stopped."
    assert sorted(line[11:] for line in rest[:-1]) == [
        APPLIED,
        "operator.py: running",
        "operator.py: starting",
    ]


def test_dev_uses_the_lifespan_of_the_manager(home: Path) -> None:
    change(home / "operator.py", "import steersman as sm\n", LIFESPAN)
    change(
        home / "operator.py",
        "    await ctx.apply_owned(",
        "    ctx.lifespan(Outside)\n    await ctx.apply_owned(",
    )
    with (home / "operator.py").open("a", encoding="utf-8") as file:
        file.write("manager = sm.Manager(controllers=[controller], lifespan=outside)\n")

    with dev(home) as started:
        started.until("the lifespan is entered")
        started.until("reconciled Setting default/one: done in")
        started.end()

    assert (home / "left").exists()


def test_the_printed_kubeconfig_path_is_absolute(home: Path) -> None:
    with dev(home) as started:
        seen = started.until("export KUBECONFIG=")

        started.end()

    assert started.lines[seen - 1] == f"export KUBECONFIG={home / 'dev.kubeconfig'}"


def test_a_save_restarts_the_operator_and_keeps_the_objects(home: Path) -> None:
    with dev(home) as started:
        seen = started.until(MADE)
        change(home / "operator.py", "str(obj.spec.size)", "str(obj.spec.size * 2)")
        seen = started.until("operator.py: starting, after operator.py was saved", after=seen)
        seen = started.until("running", after=seen)
        started.until("reconciled Setting default/one: .*applied ConfigMap", after=seen)

        said = started.end()

    assert "is gone\n" not in said


def test_a_changed_schema_is_applied_on_restart(home: Path) -> None:
    with dev(home) as started:
        seen = started.until(MADE)
        change(home / "operator.py", "size: int = 1", 'size: int = 1\n    mode: str = "fast"')
        seen = started.until("running", after=started.until("was saved", after=seen))
        change(home / "app.yaml", "size: 3", "size: 3, mode: slow")
        started.until(APPLIED, after=seen)

        started.end()


def test_a_saved_sample_is_applied_again(home: Path) -> None:
    with dev(home) as started:
        seen = started.until(MADE)
        change(home / "app.yaml", "name: one", "name: two")
        started.until("ConfigMap default/two, of Setting two: ready", after=seen)

        said = started.end()

    assert "was saved" not in said


def test_a_sample_that_the_server_rejects_is_reported(home: Path) -> None:
    change(home / "app.yaml", "size: 3", "size: many")

    with dev(home) as started:
        started.until(r"app\.yaml: could not apply Setting default/one: .*spec\.size")
        change(home / "app.yaml", "size: many", "size: 4")
        started.until(MADE)

        started.end()


def test_a_save_that_does_not_load_is_shown_and_the_next_one_is_tried(home: Path) -> None:
    with dev(home) as started:
        seen = started.until(MADE)
        change(home / "operator.py", "async def reconcile", "async deff reconcile")
        seen = started.until("SyntaxError: invalid syntax .operator.py, line 20", after=seen)
        seen = started.until("does not start; it is started again when a file is saved", after=seen)
        change(home / "operator.py", "async deff reconcile", "async def reconcile")
        started.until("running", after=seen)

        started.end()


def test_an_operator_that_exits_is_restarted_by_the_next_save(home: Path) -> None:
    change(home / "operator.py", "    return sm.Done()", "    import os; os._exit(7)")

    with dev(home) as started:
        seen = started.until("ended; it restarts when a file is saved")
        change(home / "operator.py", "    import os; os._exit(7)", "    return sm.Done()")
        started.until("reconciled Setting default/one: done", after=seen)

        started.end()


def test_a_save_of_an_unused_file_does_not_restart_the_operator(home: Path) -> None:
    (home / "test_operator.py").write_text("x = 1\n", encoding="utf-8")

    with dev(home) as started:
        started.until("running")
        change(home / "test_operator.py", "1", "2")
        change(home / "app.yaml", "name: one", "name: two")
        started.until("ConfigMap default/two, of Setting two: ready")

        said = started.end()

    assert "was saved" not in said


def test_an_error_in_reconcile_is_shown_with_its_line(home: Path) -> None:
    change(home / "operator.py", "    return sm.Done()", "    return sm.Donne()")

    with dev(home) as started:
        started.until("WARNING setting: Setting default/one failed in .*AttributeError")
        started.until(r'operator\.py", line 26, in reconcile')

        said = started.end()

    # Once: the operator's log has it with its traceback.
    assert "reconciled Setting default/one: failed" not in said


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_the_end_of_a_session_leaves_nothing_behind(home: Path, by: signal.Signals) -> None:
    with dev(home) as started:
        started.until("running")
        operators = children(started.process.pid)

        said = started.end(by)

    assert started.process.returncode == 0
    assert said.endswith("The operator and its cluster have stopped.")
    assert len(operators) == 1
    assert not any(map(is_running, operators))
    assert not (home / "dev.kubeconfig").exists()
    assert list((home / "temporary").iterdir()) == []


def test_an_operator_does_not_outlive_the_dev_process(home: Path) -> None:
    with dev(home) as started:
        started.until("running")
        (operator,) = children(started.process.pid)
        started.process.kill()
        started.process.wait()

        # The duration depends on the machine; the timeout of the test limits it.
        while is_running(operator):
            PAUSE.wait(0.05)

    assert not is_running(operator)


def test_dev_ends_when_its_stdout_is_closed(home: Path) -> None:
    change(home / "operator.py", "sm.Done()", "sm.Later(after_seconds=0.1)")
    command = " ".join([*PROGRAM, "dev", "operator.py", "--apply=app.yaml", "|", "head", "-n1"])

    finished = subprocess.run(
        ["sh", "-c", command], cwd=home, capture_output=True, text=True, timeout=60, check=False
    )

    assert finished.stdout.count("\n") == 1
    assert finished.stderr.endswith("The operator and its cluster have stopped.\n")
    assert "Traceback" not in finished.stderr


def test_dev_waits_for_a_missing_target(home: Path) -> None:
    (home / "operator.py").rename(home / "elsewhere.txt")

    with dev(home) as started:
        seen = started.until("does not start")
        (home / "elsewhere.txt").rename(home / "operator.py")
        started.until("running", after=seen)

        said = started.end()

    assert "the file operator.py does not exist" in said


def test_without_samples_dev_says_how_to_name_a_file(home: Path) -> None:
    finished = steersman("dev", "operator.py", "--samples", directory=home)

    assert finished.returncode == 2
    assert "the directory samples does not exist" in finished.stderr
    assert "name a file or a directory with --apply" in finished.stderr


def test_an_operator_that_is_not_running_at_the_time_limit_is_a_failure(home: Path) -> None:
    change(home / "operator.py", "async def reconcile", "async deff reconcile")

    finished = steersman("dev", "operator.py", "--for=0.1", directory=home)

    assert finished.returncode == 1
    assert finished.stderr.endswith(
        "steersman: operator.py does not run. Correct the error above.\n"
        "see: steersman explain ManagerFailed\n"
    )


def test_an_operator_that_ends_without_output_gets_a_line(home: Path) -> None:
    change(home / "operator.py", "import steersman as sm", "import os; os._exit(7)")

    finished = steersman("dev", "operator.py", "--for=0.1", directory=home)

    assert finished.returncode == 1
    assert "the operator ended with status 7, without output\n" in finished.stderr


async def test_an_operator_that_never_starts_is_a_failure(home: Path) -> None:
    change(home / "operator.py", "class Spec", "__import__('threading').Event().wait()\nclass Spec")
    options = DevOptions(
        target="operator.py",
        directory=home,
        sources=(home,),
        cluster=ClusterSettings(even_in_a_cluster=True),
        for_seconds=0.1,
        start_seconds=0.5,
    )
    out, err = StringIO(), StringIO()

    with pytest.raises(ManagerFailed, match=r"operator\.py has not started in 0\.5 seconds"):
        await run_session(options, clock=SystemClock(), rng=Random(0), environ={}, out=out, err=err)

    assert err.getvalue().endswith("The operator and its cluster have stopped.\n")
