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
from steersman_cluster.workloads.settings import PARTS, SCHEDULER, WorkloadSettings, node_name

if TYPE_CHECKING:
    from steersman_cluster.workloads.controller_manager import (
        ALONE,
        Kubelet,
        Workloads,
        running_workloads,
        workloads,
    )
    from steersman_cluster.workloads.nodes.node_taints import (
        SIMULATED_NODE,
        is_simulated_node,
        node_taints,
    )
    from steersman_cluster.workloads.pods import fnv_1a, is_ended
    from steersman_cluster.workloads.status_writer import put_pod_status

__all__ = [
    "ALONE",
    "PARTS",
    "SCHEDULER",
    "SIMULATED_NODE",
    "Kubelet",
    "WorkloadSettings",
    "Workloads",
    "fnv_1a",
    "is_ended",
    "is_simulated_node",
    "node_name",
    "node_taints",
    "put_pod_status",
    "running_workloads",
    "workloads",
]

# To choose the parts takes none of what it takes to run them.
_LAZY = {
    "ALONE": "controller_manager",
    "Kubelet": "controller_manager",
    "SIMULATED_NODE": "nodes.node_taints",
    "Workloads": "controller_manager",
    "fnv_1a": "pods",
    "is_ended": "pods",
    "is_simulated_node": "nodes.node_taints",
    "node_taints": "nodes.node_taints",
    "put_pod_status": "status_writer",
    "running_workloads": "controller_manager",
    "workloads": "controller_manager",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
