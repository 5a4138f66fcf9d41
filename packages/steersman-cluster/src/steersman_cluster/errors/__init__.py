"""The errors of clusters for development: in tests, simulations and demos.

SteersmanError
├── BadValue
│   └── UnknownExample           there is no example of this name
├── ClusterError                 the embedded cluster could not be started
├── NamespaceDeletionFailed      the contents of a namespace cannot be deleted
├── ControlPlaneError            a control plane for tests could not be built, started or used
├── TimeCannotBeSkipped          a test on a real cluster tried to advance time
├── Deadlock                     every task of a simulation waits, and none will be resumed
├── BadScenario                  a scenario is invalid, so no sweep can execute it
├── NotDeterministic             a scenario reached two different states, both times without faults
├── CrashSweepFailed             an operator reached a different state because of a fault
└── NotRejected                  in a demo, the server accepted a request that it must reject

Takes:     the facts about an error, as keywords
Gives:     exceptions with these facts as attributes, and a message of one sentence
Promises:  - an error can be copied and sent to another process
Never:     is raised or caught by production code, which uses the errors in ``steersman.errors``
"""

from steersman_cluster.errors.failures import (
    BadScenario,
    ClusterError,
    ControlPlaneError,
    CrashSweepFailed,
    Deadlock,
    NamespaceDeletionFailed,
    NotDeterministic,
    NotRejected,
    TimeCannotBeSkipped,
    UnknownExample,
)

__all__ = [
    "BadScenario",
    "ClusterError",
    "ControlPlaneError",
    "CrashSweepFailed",
    "Deadlock",
    "NamespaceDeletionFailed",
    "NotDeterministic",
    "NotRejected",
    "TimeCannotBeSkipped",
    "UnknownExample",
]
