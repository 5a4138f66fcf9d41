"""What kubectl printed in the sessions with the real server."""

from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from tests.real.kubectl_sessions.comparison import Difference, differences
from tests.real.kubectl_sessions.runner import Outcome
from tests.real.kubectl_sessions.scripts import Session
from tests.recorded.module_recording import Mode
from tests.recorded.recordings import RecordingError, read_recording, write_recording


class SessionRecording:
    """The outcomes in the real cluster, of each session in each comparison.

    In ``RECORD``, the outcomes in the real cluster replace the recorded ones. In ``VERIFY``, both
    must be the same.
    """

    def __init__(self, path: Path, *, mode: Mode) -> None:
        self.mode = mode
        self._path = path
        self._recorded = {
            case: msgspec.convert(outcomes, list[Outcome])
            for case, outcomes in read_recording(path).items()
        }

    def differences(
        self,
        session: Session,
        case: str,
        real: Sequence[Outcome],
        embedded: Sequence[Outcome],
    ) -> list[Difference]:
        """The steps whose outcome differs from the recorded one, in either cluster.

        ``real`` is empty in ``REPLAY``.
        """
        if self.mode is Mode.RECORD:
            self._recorded[case] = list(real)
        recorded = self._recorded.get(case)
        if recorded is None or _steps(recorded) != _steps(embedded):
            raise RecordingError(f"the steps of session {case!r} are not recorded")
        found = differences(session, recorded, embedded)
        if self.mode is Mode.VERIFY:
            found += differences(session, recorded, real)
        return found

    def finish(self, cases: Collection[str]) -> None:
        """Write the recording of these cases, or fail if it has one of another case."""
        if self.mode is Mode.RECORD:
            kept = {case: self._recorded[case] for case in cases if case in self._recorded}
            write_recording(self._path, msgspec.to_builtins(kept))
        elif others := self._recorded.keys() - set(cases):
            raise RecordingError(f"{min(others)!r} is recorded, and is no session")


def _steps(outcomes: Sequence[Outcome]) -> list[tuple[int, tuple[str, ...]]]:
    return [(each.line, each.arguments) for each in outcomes]
