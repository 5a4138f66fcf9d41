"""The errors of clusters for development: in tests, simulations and demos.

SteersmanError
├── BadValue
│   └── UnknownExample           there is no example of this name
├── ClusterError                 the embedded cluster could not be started
├── NamespaceHeld                something in a namespace that is being deleted stays there
├── ControlPlaneError            a control plane for tests could not be built, started or used
├── TimeCannotBeSkipped          a test of a real cluster asked for what only a virtual one can do
├── Deadlock                     in a simulation, every task waits and nothing can happen any more
├── BadScenario                  a scenario that no sweep can run
├── NotRepeatable                a scenario came to something else without any fault
├── DidNotSurvive                an operator came to something else when it was disturbed
└── NotRejected                   in a demo, the server accepted what it had to reject

Takes:     what the code that raises an error knows of it, as keywords
Gives:     exceptions with that as attributes, and one sentence for a person
Promises:  - an error can be copied and sent to another process
Never:     is raised or caught by what runs in production: ``steersman.errors`` has those errors
"""

from steersman_cluster.errors.failures import (
    BadScenario,
    ClusterError,
    ControlPlaneError,
    Deadlock,
    DidNotSurvive,
    NamespaceHeld,
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
    "NamespaceHeld",
    "NotRejected",
    "NotRepeatable",
    "TimeCannotBeSkipped",
    "UnknownExample",
]
