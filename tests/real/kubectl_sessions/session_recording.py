"""What kubectl printed in the sessions with the real server."""

from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from tests.real.kubectl_sessions.comparison import Difference, differences
from tests.real.kubectl_sessions.runner import Outcome
from tests.real.kubectl_sessions.scripts import Session
from tests.recorded.module_recording import Mode
from tests.recorded.recordings import RecordingError, read_recording, write_recording


class RecordedSession(msgspec.Struct, frozen=True, kw_only=True):
    """The outcomes in the real cluster of a session whose text had this digest."""

    digest: str
    outcomes: list[Outcome]


class SessionRecording:
    """The outcomes in the real cluster, of each session in each comparison.

    In ``RECORD``, those of this run replace the recorded ones. In ``VERIFY``, both must be equal.
    """

    def __init__(self, path: Path, *, mode: Mode) -> None:
        self.mode = mode
        self._path = path
        self._recorded = msgspec.convert(read_recording(path), dict[str, RecordedSession])

    def differences(
        self,
        session: Session,
        case: str,
        real: Sequence[Outcome],
        embedded: Sequence[Outcome],
    ) -> list[Difference]:
        """The steps whose outcome in the embedded cluster differs from the recorded one.

        ``real`` is empty in ``REPLAY``.
        """
        if self.mode is Mode.RECORD:
            self._recorded[case] = RecordedSession(digest=session.digest, outcomes=list(real))
        recorded = self._recorded.get(case)
        if recorded is None:
            raise RecordingError(f"the session {case!r} is not recorded")
        if recorded.digest != session.digest:
            raise RecordingError(f"the session {case!r} has changed since it was recorded")
        if self.mode is Mode.VERIFY and (late := _changes(recorded.outcomes, real)):
            raise RecordingError(f"the recording of {case!r} is out of date, {late}")
        return differences(session, recorded.outcomes, embedded)

    def finish(self, cases: Collection[str]) -> None:
        """Write the recording of these cases, or fail if it has one of another case."""
        if self.mode is Mode.RECORD:
            kept = {case: self._recorded[case] for case in cases if case in self._recorded}
            write_recording(self._path, msgspec.to_builtins(kept))
        elif others := self._recorded.keys() - set(cases):
            raise RecordingError(f"{min(others)!r} is recorded, and is no session")


def _changes(recorded: Sequence[Outcome], real: Sequence[Outcome]) -> str:
    """The first step whose outcome differs from the recorded one, or nothing."""
    for before, now in zip(recorded, real, strict=True):
        if before != now:
            command = " ".join(before.arguments)
            return f"line {before.line}: kubectl {command} printed {before}, and now {now}"
    return ""
