"""What every cluster runs: the controllers that make Pods of Deployments, and nodes that run them.

Takes:     settings, and a way to an API server, embedded or real
Gives:     a cluster: workloads with Pods that run, Services with endpoints, owners whose ends are
           the ends of what they own, and namespaces that go with all that is in them
Promises:  - a part that is not wanted does not run
           - all parts together make a cluster of a bare API server
           - a cluster whose controllers were killed goes on where it was
Never:     runs a container, looks into an API server from behind, or acts on import

Written with nothing but our own runtime: each part is a ``Controller``, or a ``Runnable`` over
informers where no one kind is the unit. A package for each, by the name that ``PARTS`` has.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from steersman.workloads.settings import PARTS, WorkloadSettings

if TYPE_CHECKING:
    from steersman.workloads.joining import ALONE, Workloads, running_workloads, workloads
    from steersman.workloads.nodes import in_motion

__all__ = [
    "ALONE",
    "PARTS",
    "WorkloadSettings",
    "Workloads",
    "in_motion",
    "running_workloads",
    "workloads",
]

# To choose the parts takes none of what it takes to run them.
_DOORS = {
    "ALONE": "joining",
    "Workloads": "joining",
    "in_motion": "nodes",
    "running_workloads": "joining",
    "workloads": "joining",
}

if not TYPE_CHECKING:  # to the checkers, a module with this has whatever is asked for

    def __getattr__(name: str) -> object:
        if name not in _DOORS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_DOORS[name]}"), name)
