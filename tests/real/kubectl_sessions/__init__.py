"""Sessions of kubectl in an embedded cluster, and in a real one, whose output is recorded.

Takes:     sessions, in the files of ``sessions/``, and two new clusters, or one and a recording
Gives:     the steps whose stdout, stderr or exit status differ
Promises:  - only values that differ from run to run are replaced
           - the steps after a difference are compared too
Never:     ignores a difference for which ``normal.py`` gives no reason
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
