"""``steersman demo``, from the first object of each example to its last."""

import ast
import itertools
import os
import re
import signal
from pathlib import Path

import pytest

from tests.cluster.programs import END_SECONDS, running, steersman
from tests.examples import PROJECTS

pytestmark = pytest.mark.programs

# The time at the start of a line.
AT = re.compile(r"^ *(\d+\.\d) s  ", re.MULTILINE)

DEFAULT_PAUSE_SECONDS = 2.0
MAX_SECONDS = 30.0


def events_in(output: str) -> list[str]:
    return [AT.sub("", line, count=1) for line in output.splitlines() if line]


def steps(name: str) -> list[re.Pattern[str]]:
    """The texts that the steps of an example print, from its source file."""
    return [
        re.compile("".join(map(_pattern, getattr(node.args[0], "values", [node.args[0]]))))
        for node in ast.walk(ast.parse((PROJECTS[name] / "demo.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "step"
    ]


def _pattern(part: ast.expr) -> str:
    # Of an f-string, only the constant parts are known.
    return re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+"


def has_exactly_the_steps_of(lines: list[str], name: str) -> bool:
    """Whether these lines contain exactly the texts of the example's steps, in order."""
    said = [line.removeprefix("» ") for line in lines if line.startswith("»")]
    wanted = steps(name)
    return len(said) == len(wanted) and all(map(re.Pattern.fullmatch, wanted, said))


def of_step(lines: list[str], said: str) -> list[str]:
    """The lines between this step and the next one."""
    after = lines[lines.index(f"» {said}") + 1 :]
    return list(itertools.takewhile(lambda line: not line.startswith("»"), after))


@pytest.mark.parametrize("name", PROJECTS)
def test_the_demo_of_an_example_runs_in_half_a_minute_and_cleans_up(
    name: str, tmp_path: Path
) -> None:
    finished = steersman("demo", name, "--pause=0", directory=tmp_path, TMPDIR=str(tmp_path))

    assert finished.returncode == 0, finished.stderr
    lines = events_in(finished.stdout)
    assert has_exactly_the_steps_of(lines, name)
    assert len(steps(name)) >= 3
    shown = {found[1] for line in lines if (found := re.match(r"(\w+ default/[\w.-]+)[:,]", line))}
    assert shown
    assert shown <= {line.removesuffix(" is gone") for line in lines if line.endswith(" is gone")}
    assert list(tmp_path.iterdir()) == []
    (*_, last) = AT.findall(finished.stdout)
    assert float(last) + len(steps(name)) * DEFAULT_PAUSE_SECONDS < MAX_SECONDS


def test_the_demo_shows_why_a_child_was_recreated(tmp_path: Path) -> None:
    finished = steersman("demo", "--pause=0.2", directory=tmp_path)

    assert finished.returncode == 0, finished.stderr
    lines = events_in(finished.stdout)
    assert any(
        re.match("reconciled AppService default/nginx-app, because Service .* deleted: appl", line)
        for line in lines
    )
    child = "Service default/nginx-app"
    of_it = [
        line
        for line in of_step(lines, "delete its Service: the controller creates it again")
        if line.startswith(child)
    ]
    back = f"{child}, of AppService nginx-app: ready"
    # A view that is updated in between shows the deletion, and then the creation.
    assert of_it in ([f"{back}, re-created"], [f"{child} is gone", back])


def test_the_output_of_the_operator_is_shown(tmp_path: Path) -> None:
    finished = steersman("demo", "podwatch", "--pause=0", directory=tmp_path)

    lines = events_in(finished.stdout)
    assert "operator: Pod default/mypod does not exist anymore" in lines


def test_ctrl_c_ends_a_demo_and_cleans_up(tmp_path: Path) -> None:
    with running("demo", "--pause=60", directory=tmp_path, TMPDIR=str(tmp_path)) as demo:
        demo.until("»")
        said = demo.end(signal.SIGINT)

    assert demo.process.returncode == 0
    assert "The operator and its cluster have stopped." in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_a_demo_ends_when_its_operator_dies(tmp_path: Path) -> None:
    with running("demo", "--pause=60", directory=tmp_path) as demo:
        demo.until("»")
        os.kill(child_of(demo.process.pid), signal.SIGKILL)
        demo.until("appservice does not run")
        demo.process.wait(timeout=END_SECONDS)

    assert demo.process.returncode == 1


def child_of(pid: int) -> int:
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return int(child)


def test_the_list_has_every_example_with_its_description(tmp_path: Path) -> None:
    finished = steersman("demo", "--list", directory=tmp_path)

    assert finished.returncode == 0, finished.stderr
    found = [line.split(maxsplit=1) for line in finished.stdout.splitlines()]
    assert [name for name, _ in found] == list(PROJECTS)


def test_the_error_for_an_unknown_example_lists_the_available_ones(tmp_path: Path) -> None:
    finished = steersman("demo", "apservice", directory=tmp_path)

    assert finished.returncode == 2
    assert finished.stderr == (
        "steersman: the example apservice does not exist; the most similar name is appservice."
        f" Choose one of {', '.join(PROJECTS)}.\n"
        "see: steersman explain UnknownExample\n"
    )


def test_a_failure_is_shown_once_however_often_it_happens(tmp_path: Path) -> None:
    finished = steersman("demo", "--pause=0.5", directory=tmp_path)

    assert finished.returncode == 0, finished.stderr
    refusals = [
        line for line in events_in(finished.stdout) if re.match("reconciled .* NotOurs", line)
    ]
    assert len(refusals) == 1
