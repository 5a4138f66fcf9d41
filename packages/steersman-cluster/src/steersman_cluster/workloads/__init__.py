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

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names
from steersman_cluster.workloads.settings import PARTS, WorkloadSettings

if TYPE_CHECKING:
    from steersman_cluster.workloads.joining import ALONE, Workloads, running_workloads, workloads
    from steersman_cluster.workloads.nodes import in_motion

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
_LAZY = {
    "ALONE": "joining",
    "Workloads": "joining",
    "in_motion": "nodes",
    "running_workloads": "joining",
    "workloads": "joining",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
