"""Sessions of kubectl, run on the real server and on the embedded one.

Takes:     sessions, in the files of ``sessions/``, and two servers that no client has asked yet
Gives:     the steps whose output, complaints or exit status are not the same on both
Promises:  - what differs from run to run is replaced, and nothing else
           - a step that differs does not keep the next ones from being compared
Never:     excuses a difference, except texts of ``explain`` that only a real server has
"""

from tests.real.kubectl_sessions.comparison import Difference, differences
from tests.real.kubectl_sessions.runner import Outcome, Place, run_session
from tests.real.kubectl_sessions.scripts import Session, all_sessions

__all__ = [
    "Difference",
    "Outcome",
    "Place",
    "Session",
    "all_sessions",
    "differences",
    "run_session",
]
