"""The recording of a module: replay, verification and renewal, without a real server."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from steersman.clock import SystemClock
from steersman_cluster.testing import ControlPlane, running_embedded_control_plane
from tests.recorded.module_recording import Mode, ModuleRecording
from tests.recorded.recordings import RecordingError, read_recording

CONFIG_MAPS = "/api/v1/namespaces/{}/configmaps"


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A server in place of the real one: it gives random UIDs, too."""
    with running_embedded_control_plane(clock=SystemClock()) as plane:
        yield plane


class Session:
    """Runs of the same module."""

    def __init__(self, path: Path, plane: ControlPlane) -> None:
        self._path = path
        self._plane = plane

    @contextmanager
    def running(self, mode: Mode, *cases: str) -> Iterator[ModuleRecording]:
        recording = ModuleRecording(
            self._path, mode=mode, plane=None if mode is Mode.REPLAY else self._plane
        )
        yield recording
        recording.finish(cases)

    def run(self, mode: Mode, **cases: dict[str, Any]) -> list[Any]:
        """Create a ConfigMap in each case, and read it; the result are the responses."""
        found: list[Any] = []
        with self.running(mode, *cases) as real, real.namespace() as namespace:
            for name, body in cases.items():
                real.start_case(name)
                with real.caller() as api:
                    found.append(create_and_read(api, namespace, body))
                real.end_case(failed=False)
        return found


def create_and_read(api: Any, namespace: str, body: dict[str, Any]) -> Any:
    path = CONFIG_MAPS.format(namespace)
    created = api.call("POST", path, body).json()
    again = {**created, "data": {"uid": created["metadata"]["uid"]}}
    name = created["metadata"]["name"]
    updated = api.call("PUT", f"{path}/{name}", again).json()
    api.call("DELETE", f"{path}/{name}")
    return updated


@pytest.fixture
def session(tmp_path: Path, plane: ControlPlane) -> Session:
    return Session(tmp_path / "test_it.jsonl.gz", plane)


ONE: dict[str, Any] = {"metadata": {"name": "one"}, "data": {"a": "b"}}
GENERATED: dict[str, Any] = {"metadata": {"generateName": "one-"}}


def test_a_replay_gives_the_recorded_responses(session: Session) -> None:
    [recorded] = session.run(Mode.RECORD, one=ONE)

    [replayed] = session.run(Mode.REPLAY, one=ONE)

    metadata = replayed["metadata"]
    assert replayed["data"] == {"uid": metadata["uid"]}
    assert replayed.keys() == recorded.keys()
    assert metadata["uid"] == "00000000-0000-4000-8000-000000000001"
    assert metadata["creationTimestamp"] == "2026-02-03T04:05:06Z"
    assert metadata["resourceVersion"] == "2002"


def test_two_recordings_of_the_same_cases_have_the_same_bytes(
    session: Session, tmp_path: Path, plane: ControlPlane
) -> None:
    other = Session(tmp_path / "other.jsonl.gz", plane)

    session.run(Mode.RECORD, one=ONE, two=GENERATED)
    other.run(Mode.RECORD, one=ONE, two=GENERATED)

    first, second = (
        (tmp_path / name).read_bytes() for name in ("test_it.jsonl.gz", "other.jsonl.gz")
    )
    assert first == second


def test_a_recording_of_unchanged_responses_is_not_out_of_date(session: Session) -> None:
    session.run(Mode.RECORD, one=ONE, two=GENERATED)

    found = session.run(Mode.VERIFY, one=ONE, two=GENERATED)

    assert len(found) == 2


def test_a_case_with_other_requests_than_its_recording_fails(session: Session) -> None:
    session.run(Mode.RECORD, one=ONE)

    with pytest.raises(RecordingError, match="'one' has changed: its request 1 is POST"):
        session.run(Mode.REPLAY, one={**ONE, "data": {"a": "c"}})


def test_a_case_without_a_recording_fails(session: Session) -> None:
    session.run(Mode.RECORD, one=ONE)

    with pytest.raises(RecordingError, match="has no recording of 'two'"):
        session.run(Mode.REPLAY, one=ONE, two=ONE)


def test_a_recording_without_a_case_fails(session: Session) -> None:
    session.run(Mode.RECORD, one=ONE, two=GENERATED)

    with pytest.raises(RecordingError, match="1 recordings that no case asks for: two"):
        session.run(Mode.REPLAY, one=ONE)


def test_a_recording_with_more_requests_than_its_case_fails(session: Session) -> None:
    session.run(Mode.RECORD, one=ONE)

    with session.running(Mode.REPLAY, "one") as real:
        real.start_case("one")
        with pytest.raises(RecordingError, match="it does not send POST"):
            real.end_case(failed=False)
        real.start_case("one")
        real.end_case(failed=True)


def test_a_request_after_the_last_recorded_one_fails(session: Session) -> None:
    session.run(Mode.RECORD, one=ONE)

    with session.running(Mode.REPLAY, "one") as real, real.caller() as api:
        real.start_case("one")
        create_and_read(api, "test-cases", ONE)
        with pytest.raises(RecordingError, match="a request that is not recorded: GET /api"):
            api.call("GET", "/api")


def test_a_recording_is_out_of_date_if_the_server_responds_differently(
    session: Session, plane: ControlPlane
) -> None:
    path = f"{CONFIG_MAPS.format('default')}/late"
    for mode in (Mode.RECORD, Mode.VERIFY):
        with session.running(mode, "one") as real, real.caller() as api:
            real.start_case("one")
            api.call("GET", path)
            if mode is Mode.RECORD:
                real.end_case(failed=False)
                with plane.caller() as other:
                    other.call(
                        "POST", CONFIG_MAPS.format("default"), {"metadata": {"name": "late"}}
                    )
                continue
            with pytest.raises(RecordingError, match="the recording of 'one' is out of date: exch"):
                real.end_case(failed=False)


def test_the_set_up_of_a_fixture_is_recorded_once_and_known_in_each_case(session: Session) -> None:
    uids: list[str] = []
    for mode in (Mode.RECORD, Mode.VERIFY, Mode.REPLAY):
        with session.running(mode, "one") as real, real.namespace() as namespace:
            path = f"{CONFIG_MAPS.format(namespace)}/kube-root-ca.crt"
            with real.fixture("maps") as api:
                uids.append(created_uid(api, path))
            real.start_case("one")
            with real.caller() as api:
                same = api.call("GET", path).json()["metadata"]["uid"]
            real.end_case(failed=False)
            assert same == uids[-1]

    assert uids[-1].startswith("00") is False
    assert uids[-1].endswith("-0000-4000-8000-000000000001")


def created_uid(api: Any, path: str) -> str:
    api.call("DELETE", path)
    body = {"metadata": {"name": "kube-root-ca.crt"}}
    uid: str = api.call("POST", path.rpartition("/")[0], body).json()["metadata"]["uid"]
    return uid


def test_only_the_last_repeated_request_is_recorded(session: Session, tmp_path: Path) -> None:
    with session.running(Mode.RECORD, "one") as real, real.caller() as api:
        real.start_case("one")
        attempts = count()
        api.call_until(lambda _: next(attempts) > 2, "GET", "/version")
        real.end_case(failed=False)

    recorded = read_recording(tmp_path / "test_it.jsonl.gz")

    assert next(attempts) == 4
    assert [each["request"] for each in recorded["one"]] == ["GET /version"]


def test_cases_that_were_not_selected_keep_their_recordings(session: Session) -> None:
    session.run(Mode.RECORD, one=ONE, two=GENERATED)

    recording = ModuleRecording(session._path, mode=Mode.RECORD, plane=session._plane)
    recording.finish(None)

    assert len(session.run(Mode.REPLAY, one=ONE, two=GENERATED)) == 2
