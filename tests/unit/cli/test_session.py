"""What somebody who develops an operator is to see of it."""

from datetime import UTC, datetime, timedelta

import pytest

from steersman.cli.reports import AtWork, Kinds, Loaded, Report, as_line, from_line
from steersman.cli.session import Session
from steersman.dashboard import Reconciled, branches, text_of
from steersman.names import GroupVersionKind, ObjectRef, ResourceType
from tests.unit.dashboard.objects import app

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


def session() -> Session:
    return Session(
        target="operator.py",
        kubeconfig="dev.kubeconfig",
        hint="Nothing to see yet.",
        started_time=START,
    )


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def shown(seen: Session, *names: str, size: tuple[int, int] = (80, 24)) -> list[str]:
    grown = branches(map(app, names), roots=[APPS])
    lines = seen.lines(grown, now=after(5), size=size)
    return [text_of(line).rstrip() for line in lines]


def at_work() -> Session:
    seen = session()
    seen.begin(START, saved="")
    seen.hear(Kinds(reconciled=(KIND,), followed=(KIND,)), after(1))
    seen.hear(AtWork(took_seconds=1.0), after(1))
    return seen


def test_it_says_how_the_operator_stands_and_where_the_cluster_is() -> None:
    assert shown(at_work()) == [
        "steersman dev  operator.py  at work for 4s",
        "export KUBECONFIG=dev.kubeconfig   Ctrl-C ends it all",
        "",
        "Nothing to see yet.",
    ]


def test_an_operator_that_does_not_load_is_shown_with_its_error() -> None:
    seen = session()
    seen.begin(START, saved="operator.py")
    seen.words.append("operator.py is no operator to work with")
    seen.end(1, after(1))

    lines = shown(seen)

    assert lines[0].endswith("does not start; it is tried again when a file is saved")
    assert lines[-1] == "operator.py is no operator to work with"


def test_an_operator_that_ends_by_itself_is_shown_as_ended() -> None:
    seen = at_work()
    seen.end(-9, after(2))

    lines = shown(seen, "web")

    assert lines[0].endswith("ended; it is started again when a file is saved")
    assert lines[-1] == "the operator was killed by signal 9"


def test_what_it_wrote_in_its_last_life_is_not_shown_in_the_next() -> None:
    seen = at_work()
    seen.words.append("Traceback")

    seen.begin(after(3), saved="kinds.py")

    assert shown(seen)[0].endswith("starting, after kinds.py was saved")
    assert "Traceback" not in shown(seen)


def test_there_is_room_for_the_last_words_however_many_objects_there_are() -> None:
    seen = at_work()
    seen.words.extend(f"word {number}" for number in range(50))

    lines = shown(seen, *(f"app-{number:02}" for number in range(50)), size=(80, 20))

    assert len(lines) == 20
    assert lines[-6:] == [f"word {number}" for number in range(44, 50)]
    assert lines[-8] == "… and 42 more lines"


@pytest.mark.parametrize("height", range(1, 12))
def test_a_low_terminal_is_never_overfull(height: int) -> None:
    seen = at_work()
    seen.words.append("word")

    screen = shown(seen, "one", "two", "three", size=(40, height))[:height]

    assert screen[0].startswith("steersman dev")


def test_what_is_gone_is_forgotten() -> None:
    seen = at_work()
    seen.hear(DONE, after(2))

    seen.forget(set())

    assert seen.reconciles == {}


@pytest.mark.parametrize(
    "report",
    [
        Loaded(files=("a.py",)),
        Kinds(reconciled=(KIND,), followed=(KIND, KIND)),
        AtWork(took_seconds=0.5),
        DONE,
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_report_comes_through_a_pipe_as_it_was_sent(report: Report) -> None:
    line = as_line(report)

    assert line.count(b"\n") == 1
    assert from_line(line) == report


def test_an_operator_that_ends_without_a_word_is_spoken_for() -> None:
    silent, talkative = session(), session()
    talkative.words.append("I cannot")

    assert silent.end(7, after(1)) == "the operator ended with status 7, and wrote nothing"
    assert talkative.end(7, after(1)) == ""
    assert list(talkative.words) == ["I cannot"]


def test_a_path_that_a_shell_would_take_apart_is_quoted() -> None:
    seen = session()
    seen.kubeconfig = "my shop/kubeconfig"

    assert shown(seen)[1].startswith("export KUBECONFIG='my shop/kubeconfig'   ")


def test_what_is_told_stands_above_all_with_every_word_of_its_notes() -> None:
    seen = at_work()
    seen.caption = "they want -1 of it"
    seen.notes.append("refused: " + "should be greater than or equal to 0 " * 3)

    lines = shown(seen, size=(60, 24))

    assert lines[3:7] == [
        "» they want -1 of it",
        "  refused: should be greater than or equal to 0 should be",
        "  greater than or equal to 0 should be greater than or equal",
        "  to 0",
    ]


def test_a_kind_that_no_controller_has_can_be_shown_all_the_same() -> None:
    seen = session()
    seen.always_shown = frozenset({APPS})

    seen.hear(Kinds(reconciled=(), followed=()), after(1))

    assert seen.roots == {APPS}
