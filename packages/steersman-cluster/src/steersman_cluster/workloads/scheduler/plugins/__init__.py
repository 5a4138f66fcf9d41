"""The plugins that decide on which nodes a Pod fits, named as in kube-scheduler.

Takes:     a Pod, a node, and the Pods that run on the node
Gives:     why a node does not fit, worded as in kube-scheduler, and scores of nodes that fit
Promises:  - a node selector requires all its labels
           - a toleration matches a taint by key value and effect
Never:     decides between nodes, or reads from the API server
"""

from steersman_cluster.workloads.scheduler.plugins.node_affinity import matches_node
from steersman_cluster.workloads.scheduler.plugins.node_ports import host_ports
from steersman_cluster.workloads.scheduler.plugins.node_resources_fit import resource_requests
from steersman_cluster.workloads.scheduler.plugins.taint_toleration import (
    tolerates,
    untolerated_taint,
)

__all__ = ["host_ports", "matches_node", "resource_requests", "tolerates", "untolerated_taint"]
