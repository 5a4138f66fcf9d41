"""kubectl prints the same lines with the embedded server as with the real one.

What it prints with the real one is recorded; ``--real-responses`` verifies or renews it.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.real.kubectl_sessions import all_sessions
from tests.real.kubectl_sessions.pairs import (
    COMPARISONS,
    Comparison,
    Pair,
    running_pair,
    runs_in,
)
from tests.real.kubectl_sessions.session_recording import SessionRecording
from tests.recorded.module_recording import Mode
from tests.recorded.recordings import SUFFIX

CASES = {
    f"{comparison.name} {session}": (comparison, session)
    for comparison in COMPARISONS
    for session in all_sessions()
    if runs_in(session, comparison)
}


class Pairs:
    """The clusters of the current comparison, which its sessions share."""

    def __init__(self, directory: Path, *, with_real: bool) -> None:
        self._directory = directory
        self._with_real = with_real
        self._current: Pair | None = None
        self._running = ExitStack()

    def of(self, comparison: Comparison) -> Pair:
        """Return the running clusters of a comparison; stop those of the one before."""
        if self._current is None or self._current.comparison is not comparison:
            self.stop()
            self._current = self._running.enter_context(
                running_pair(
                    comparison,
                    directory=self._directory / comparison.name,
                    with_real=self._with_real,
                )
            )
        return self._current

    def stop(self) -> None:
        """Stop the running clusters."""
        self._running.close()
        self._current = None


@pytest.fixture(scope="module")
def recording(request: pytest.FixtureRequest) -> Iterator[SessionRecording]:
    path = Path(__file__).with_suffix(SUFFIX)
    mode = Mode(request.config.getoption("--real-responses"))
    recording = SessionRecording(path, mode=mode)
    yield recording
    recording.finish(CASES)


@pytest.fixture(scope="module")
def pairs(recording: SessionRecording, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pairs]:
    directory = tmp_path_factory.mktemp("sessions")
    pairs = Pairs(directory, with_real=recording.mode is not Mode.REPLAY)
    yield pairs
    pairs.stop()


@pytest.mark.parametrize("case", CASES)
def test_a_session_prints_the_same(case: str, pairs: Pairs, recording: SessionRecording) -> None:
    comparison, session = CASES[case]
    found = recording.differences(session, case, *pairs.of(comparison).run(session))
    assert not found, "\n\n".join(map(str, found))
