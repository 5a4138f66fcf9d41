"""Simulated kubelets: Pods that are bound to a node run there, without a single process.

Takes:     how many nodes there are and how large, and annotations of Pods
Gives:     Node objects, and the statuses, events and ends that a kubelet gives to Pods
Promises:  - a Pod that starts at once costs one binding and one status
           - no two Pods have one address
           - a node that is deleted comes back
           - a Pod of another scheduler or another kubelet is left alone
Never:     runs a process, probes a container, or reads the clock of the machine
"""

from steersman_cluster.kubelet.node_registrar import machines
from steersman_cluster.kubelet.pending_changes import has_pending_changes
from steersman_cluster.kubelet.pod_worker import kubelet
from steersman_cluster.workloads import Workloads, WorkloadSettings

__all__ = ["has_pending_changes", "simulated_kubelet"]


def simulated_kubelet(settings: WorkloadSettings) -> Workloads:
    """What registers the nodes of ``settings``, and runs their Pods."""
    return Workloads(controllers=(kubelet(settings),), runnables=(machines(settings),))
