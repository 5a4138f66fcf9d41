"""The parser and the comparison of kubectl sessions; tests/real runs them."""

from pathlib import Path

import pytest

from tests.real.kubectl_sessions.normal import (
    normal,
    without_intermediate_states,
    without_unpublished_texts,
)
from tests.real.kubectl_sessions.runner import Outcome
from tests.real.kubectl_sessions.scripts import End, Run, Start, Write, parsed, session
from tests.real.kubectl_sessions.session_recording import SessionRecording
from tests.recorded.module_recording import Mode
from tests.recorded.recordings import RecordingError

UID = "0b8c57ef-b2e3-49d6-b176-778a989356d2"


def are_equal(first: str, second: str, *, headers: bool = True) -> bool:
    return normal(first, names={}, headers=headers) == normal(second, names={}, headers=headers)


SAME = {
    "ages": ("NAME   AGE\nweb    5s\n", "NAME   AGE\nweb    2m3s\n"),
    "gaps": (
        "NAME    IP            AGE\na       10.0.1.2      5s",
        "NAME  IP          AGE\na     10.0.1.20   12s",
    ),
    "events": (
        "  Type  Age\n  ----  ---\n  Normal  5s (x2 over 9s)",
        "  Type  Age\n  ----  ---\n  Normal  1s (x2 over 2s)",
    ),
    "days": ("RESTARTS     IP\n2 (322d ago)   a", "RESTARTS      IP\n2 (2y35d ago)   a"),
    "times": ('time: "2026-01-01T00:00:00Z"', 'time: "2026-02-03T04:05:06Z"'),
    "versions": ('resourceVersion: "7"', 'resourceVersion: "1234"'),
    "suffixes": ("pod/web-5d68578566-bcdfg created", "pod/web-5d68578566-zzzzz created"),
    "ports": ("80:30123/TCP", "80:32001/TCP"),
    "what klog says": ("I1115 15:02:25.123456    1 x.go:1] hello\nweb\n", "web\n"),
}

OTHER = {
    "a word": (
        "NAME   STATUS    AGE\nweb    Pending   5s\n",
        "NAME   STATUS    AGE\nweb    Running   5s\n",
    ),
    "an empty cell": (
        "NAME   A   B   AGE\nweb    x       5s\n",
        "NAME   A   B   AGE\nweb        x   5s\n",
    ),
    "a duration outside of a table": ("timeout: 30s", "timeout: 60s"),
    "a gap in a table of words": ("NAME   KIND\na      b", "NAME  KIND\na     b"),
    "uids that are the same once": (f"{UID} {UID}", f"{UID} {UID.replace('0', '1')}"),
    "a line": ("a\nb\n", "a\n"),
    "the end of a line": ("a\n", "a"),
}


@pytest.mark.parametrize(("first", "second"), SAME.values(), ids=SAME)
def test_values_that_differ_between_runs_are_replaced(first: str, second: str) -> None:
    assert are_equal(first, second)


@pytest.mark.parametrize(("first", "second"), OTHER.values(), ids=OTHER)
def test_other_values_are_not_replaced(first: str, second: str) -> None:
    assert not are_equal(first, second)


def test_a_table_can_omit_its_header() -> None:
    assert are_equal("web   1   5s", "web   1   12s", headers=False)
    assert not are_equal("web   1   5s", "web   2   12s", headers=False)


def test_the_output_of_explain_is_kept_except_for_descriptions_of_enum_values() -> None:
    text = (
        "FIELDS:\n  policy\t<string>\n  enum: A, B\n    A sentence.\n    \n"
        '    Possible enum values:\n     - `"A"` is one\n     - `"B"`\n\n  spec\t<Spec>\n\n\n'
    )

    assert without_unpublished_texts(text) == (
        "FIELDS:\n  policy\t<string>\n  enum: A, B\n    A sentence.\n\n  spec\t<Spec>"
    )


def test_a_uid_with_the_digits_of_a_port_is_a_uid() -> None:
    port = UID[26:31]

    text = normal(f"uid: {UID}\non: {port}", names={port: "<port>"}, headers=True)

    assert text == "uid: <uid 1>\non: <port>"


def test_only_the_end_of_a_rollout_is_kept() -> None:
    text = "Waiting for it: 1 of 3\nWaiting for it: 2 of 3\n"

    assert without_intermediate_states(f"{text}done\n", done=True) == "done\n"
    assert without_intermediate_states(text, done=False) == "Waiting for it: 2 of 3\n"


def test_a_session_is_parsed_line_by_line() -> None:
    steps = parsed(
        "# nothing\n\n$ A=b get 'a b' -f - <<END\nx: y\nEND\nfile a/b.yaml <<X\n1\nX\n"
        "start w: get pods --watch\nend w 3\nend v\n"
    )

    assert steps == (
        Run(line=3, arguments=("get", "a b", "-f", "-"), environ=(("A", "b"),), stdin="x: y\n"),
        Write(line=6, path="a/b.yaml", content="1\n"),
        Start(line=9, name="w", arguments=("get", "pods", "--watch")),
        End(line=10, name="w", lines=3),
        End(line=11, name="v", lines=None),
    )


@pytest.mark.parametrize(
    ("line", "enough", "not_enough"),
    [("~ 'yes' x", "oh yes", "no"), ("~ '' x", "", "no"), ("~ x", "no", None)],
)
def test_some_steps_are_repeated_until_their_condition_is_met(
    line: str, enough: str, not_enough: str | None
) -> None:
    (step,) = parsed(line)

    assert isinstance(step, Run)
    assert step.until is not None
    assert step.until(enough)
    assert not_enough is None or not step.until(not_enough)


@pytest.mark.parametrize("text", ["dance", "$ get <<END\nno end"])
def test_an_unknown_command_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"unknown command|no end"):
        parsed(text)


SESSION = session("short", "$ apply -f - <<END\n{}\nEND\n")
EDITED = session("short", "$ apply -f - <<END\n[]\nEND\n")


def printed(text: str) -> list[Outcome]:
    return [Outcome(line=1, arguments=("apply", "-f", "-"), status=0, stdout=text, stderr="")]


def recorded(path: Path, text: str) -> None:
    recording = SessionRecording(path, mode=Mode.RECORD)
    assert recording.differences(SESSION, "short", printed(text), printed(text)) == []
    recording.finish(["short"])


def test_a_recorded_output_is_compared_with_that_of_the_embedded_cluster(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl.gz"
    recorded(path, "no pods")
    recording = SessionRecording(path, mode=Mode.REPLAY)

    assert recording.differences(SESSION, "short", [], printed("no pods")) == []
    assert recording.differences(SESSION, "short", [], printed("a pod")) != []


def test_a_verification_fails_if_the_real_cluster_prints_something_else(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl.gz"
    recorded(path, "no pods")
    recording = SessionRecording(path, mode=Mode.VERIFY)

    with pytest.raises(RecordingError, match="'short' is out of date, line 1: kubectl apply"):
        recording.differences(SESSION, "short", printed("a pod"), printed("no pods"))


def test_a_new_or_edited_session_without_a_recording_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl.gz"
    recorded(path, "no pods")
    recording = SessionRecording(path, mode=Mode.REPLAY)

    with pytest.raises(RecordingError, match="'new' is not recorded; `make record`"):
        recording.differences(SESSION, "new", [], printed("no pods"))
    with pytest.raises(RecordingError, match="'short' has changed since it was recorded"):
        recording.differences(EDITED, "short", [], printed("no pods"))


def test_a_recording_of_no_session_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl.gz"
    recorded(path, "no pods")

    with pytest.raises(RecordingError, match="'short' is recorded, and is no session"):
        SessionRecording(path, mode=Mode.REPLAY).finish(["new"])
