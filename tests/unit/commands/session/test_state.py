"""The view of a running operator in a dev session."""

from datetime import UTC, datetime, timedelta

import pytest

from steersman.names import GroupVersionKind, ObjectRef, ResourceType
from steersman.view import Reconciled, branches, text_of
from steersman_cluster.commands.session.reports import (
    Kinds,
    Loaded,
    Report,
    Running,
    as_line,
    from_line,
)
from steersman_cluster.commands.session.state import SessionState
from tests.unit.view.objects import app

START = datetime(2026, 1, 1, tzinfo=UTC)
APPS = GroupVersionKind("app.example.com", "v1", "AppService")
KIND = ResourceType(gvk=APPS, plural="appservices", namespaced=True)
DONE = Reconciled(
    ref=ObjectRef("AppService", "default", "web"),
    controller="appservice",
    outcome="done",
    took_seconds=0.1,
    time=START,
)


def state() -> SessionState:
    return SessionState(
        target="operator.py",
        kubeconfig="dev.kubeconfig",
        hint="Nothing to see yet.",
    )


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def shown(seen: SessionState, *names: str, size: tuple[int, int] = (80, 24)) -> list[str]:
    grown = branches(map(app, names), roots=[APPS])
    lines = seen.lines(grown, now=after(5), size=size)
    return [text_of(line).rstrip() for line in lines]


def running() -> SessionState:
    seen = state()
    seen.start(START, saved="")
    seen.update(Kinds(reconciled=(KIND,), followed=(KIND,)), after(1))
    seen.update(Running(took_seconds=1.0), after(1))
    return seen


def test_the_view_shows_the_state_of_the_operator_and_the_clusters_address() -> None:
    assert shown(running()) == [
        "steersman dev  operator.py  running for 4s",
        "export KUBECONFIG=dev.kubeconfig   Press Ctrl-C to stop",
        "",
        "Nothing to see yet.",
    ]


def test_an_operator_that_does_not_load_is_shown_with_its_error() -> None:
    seen = state()
    seen.start(START, saved="operator.py")
    seen.output.append("operator.py is no operator to work with")
    seen.end(1, after(1))

    lines = shown(seen)

    assert lines[0].endswith("does not start; it is started again when a file is saved")
    assert lines[-1] == "operator.py is no operator to work with"


def test_an_operator_that_exits_is_shown_as_exited() -> None:
    seen = running()
    seen.end(-9, after(2))

    lines = shown(seen, "web")

    assert lines[0].endswith("ended; it restarts when a file is saved")
    assert lines[-1] == "the operator was killed by signal 9"


def test_the_output_of_one_process_is_not_shown_with_the_next() -> None:
    seen = running()
    seen.output.append("Traceback")

    seen.start(after(3), saved="kinds.py")

    assert shown(seen)[0].endswith("starting, after kinds.py was saved")
    assert "Traceback" not in shown(seen)


def test_the_last_output_is_shown_for_any_number_of_objects() -> None:
    seen = running()
    seen.output.extend(f"word {number}" for number in range(50))

    lines = shown(seen, *(f"app-{number:02}" for number in range(50)), size=(80, 20))

    assert len(lines) == 20
    assert lines[-6:] == [f"word {number}" for number in range(44, 50)]
    assert lines[-8] == "… and 42 more lines"


@pytest.mark.parametrize("height", range(1, 12))
def test_the_view_never_exceeds_a_low_terminal(height: int) -> None:
    seen = running()
    seen.output.append("word")

    screen = shown(seen, "one", "two", "three", size=(40, height))[:height]

    assert screen[0].startswith("steersman dev")


def test_reconciles_of_deleted_objects_are_dropped() -> None:
    seen = running()
    seen.update(DONE, after(2))

    seen.keep_only(set())

    assert seen.reconciles == {}


@pytest.mark.parametrize(
    "report",
    [
        Loaded(files=("a.py",)),
        Kinds(reconciled=(KIND,), followed=(KIND, KIND)),
        Running(took_seconds=0.5),
        DONE,
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_report_round_trips_through_a_pipe(report: Report) -> None:
    line = as_line(report)

    assert line.count(b"\n") == 1
    assert from_line(line) == report


def test_an_operator_that_exits_without_output_gets_a_line() -> None:
    silent, talkative = state(), state()
    talkative.output.append("I cannot")

    assert silent.end(7, after(1)) == "the operator ended with status 7, without output"
    assert talkative.end(7, after(1)) == ""
    assert list(talkative.output) == ["I cannot"]


def test_a_path_with_special_characters_is_quoted() -> None:
    seen = state()
    seen.kubeconfig = "my shop/kubeconfig"

    assert shown(seen)[1].startswith("export KUBECONFIG='my shop/kubeconfig'   ")


def test_a_caption_is_shown_above_the_tree_with_all_its_notes() -> None:
    seen = running()
    seen.caption = "they want -1 of it"
    seen.notes.append("rejected: " + "should be greater than or equal to 0 " * 3)

    lines = shown(seen, size=(60, 24))

    assert lines[3:7] == [
        "» they want -1 of it",
        "  rejected: should be greater than or equal to 0 should be",
        "  greater than or equal to 0 should be greater than or equal",
        "  to 0",
    ]


def test_a_kind_without_a_controller_can_be_shown() -> None:
    seen = state()
    seen.always_shown = frozenset({APPS})

    seen.update(Kinds(reconciled=(), followed=()), after(1))

    assert seen.roots == {APPS}
