"""The simulated kubelet: it runs the Pods that are bound to its nodes, without any process.

Takes:     the number and the size of the nodes, and annotations of Pods
Gives:     Node objects with leases, and the statuses, events and deletions of Pods
Promises:  - a Pod that starts immediately needs only two writes, binding and status
           - no two Pods have the same IP address
           - a deleted node is registered again
           - a Pod of another scheduler or kubelet is left alone
Never:     runs a process, probes a container, or reads the machine's clock
"""

from steersman_cluster.kubelet.node_registrar import node_registrar
from steersman_cluster.kubelet.pending_changes import has_pending_changes
from steersman_cluster.kubelet.pod_worker import kubelet
from steersman_cluster.workloads import Workloads, WorkloadSettings

__all__ = ["has_pending_changes", "simulated_kubelet"]


def simulated_kubelet(settings: WorkloadSettings) -> Workloads:
    """Return the controller and the runnable of the simulated kubelet.

    The runnable registers the nodes, and the controller runs the Pods that are bound to these
    nodes.
    """
    return Workloads(controllers=(kubelet(settings),), runnables=(node_registrar(settings),))
