"""The errors of clusters for development: in tests, simulations and demos.

SteersmanError
├── BadValue
│   └── UnknownExample           there is no example of this name
├── ClusterError                 the embedded cluster could not be started
├── NamespaceDeletionFailed      the contents of a namespace cannot be deleted
├── ControlPlaneError            a control plane for tests could not be built, started or used
├── TimeCannotBeSkipped          a test on a real cluster tried to advance time
├── Deadlock                     every task of a simulation waits, and no timer is pending
├── BadScenario                  a scenario that no sweep can run
├── NotRepeatable                two runs without any fault reached different states
├── DidNotSurvive                with a fault, an operator reached another state than without
└── NotRejected                  in a demo, the server accepted a request that it must reject

Takes:     the facts about an error, as keywords
Gives:     exceptions with these facts as attributes, and a message of one sentence
Promises:  - an error can be copied and sent to another process
Never:     is raised or caught by production code; the errors for that are in ``steersman.errors``
"""

from steersman_cluster.errors.failures import (
    BadScenario,
    ClusterError,
    ControlPlaneError,
    Deadlock,
    DidNotSurvive,
    NamespaceDeletionFailed,
    NotRejected,
    NotRepeatable,
    TimeCannotBeSkipped,
    UnknownExample,
)

__all__ = [
    "BadScenario",
    "ClusterError",
    "ControlPlaneError",
    "Deadlock",
    "DidNotSurvive",
    "NamespaceDeletionFailed",
    "NotRejected",
    "NotRepeatable",
    "TimeCannotBeSkipped",
    "UnknownExample",
]
