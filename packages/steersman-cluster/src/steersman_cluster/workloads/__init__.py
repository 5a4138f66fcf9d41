"""The controllers of kube-controller-manager, and kube-scheduler, as parts of a cluster.

Takes:     settings, a transport to an API server, embedded or real, and a kubelet for the nodes
Gives:     a cluster: workloads with Pods, Services with endpoints, garbage collection, and
           namespaces whose deletion deletes their content
Promises:  - a part that is not selected does not run
           - all parts together make a cluster of a bare API server
           - a cluster whose controllers were killed continues
Never:     runs a container, reads an API server's storage, or acts on import

Each part is a package with the name that is listed in ``PARTS``. A part consists of ``Controller``
values; a part that does not reconcile objects of one kind is a ``Runnable`` over informers.
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names
from steersman_cluster.workloads.settings import PARTS, SCHEDULER, WorkloadSettings, node_name

if TYPE_CHECKING:
    from steersman_cluster.workloads.controller_manager import (
        SINGLE_REPLICA_SETTINGS,
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
    from steersman_cluster.workloads.pods import is_ended
    from steersman_cluster.workloads.pods.template_hash import fnv_1a
    from steersman_cluster.workloads.status_writer import put_pod_status

__all__ = [
    "PARTS",
    "SCHEDULER",
    "SIMULATED_NODE",
    "SINGLE_REPLICA_SETTINGS",
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

# Selecting parts does not import the controllers.
_LAZY = {
    "SINGLE_REPLICA_SETTINGS": "controller_manager",
    "Kubelet": "controller_manager",
    "SIMULATED_NODE": "nodes.node_taints",
    "Workloads": "controller_manager",
    "fnv_1a": "pods.template_hash",
    "is_ended": "pods",
    "is_simulated_node": "nodes.node_taints",
    "node_taints": "nodes.node_taints",
    "put_pod_status": "status_writer",
    "running_workloads": "controller_manager",
    "workloads": "controller_manager",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
