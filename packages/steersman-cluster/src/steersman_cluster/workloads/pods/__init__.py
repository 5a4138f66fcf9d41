"""Code that is shared by the controllers that create and delete Pods.

Takes:     Pods, templates, selectors, and the time
Gives:     the Pods' status and owners, new Pods, and the order of deletion
Promises:  - a Pod with another controller is never claimed
           - a selected Pod without a controller is found without a scan of the others
           - a template has the same hash in every process
           - the Pods that do the least work are deleted first
Never:     reads the clock, keeps state between two reconciles, or scans all Pods
"""

from steersman_cluster.workloads.pods.controller_ref_manager import (
    Claim,
    candidates,
    claim,
    claim_among,
    claimed,
)
from steersman_cluster.workloads.pods.deletion_order import (
    deletion_cost,
    deletion_order,
    node_of,
    restarts,
)
from steersman_cluster.workloads.pods.pod_status import (
    available_in_seconds,
    condition,
    is_active,
    is_available,
    is_ended,
    is_ready,
    is_terminating,
    next_available_seconds,
    phase,
    ready_since,
)
from steersman_cluster.workloads.pods.pod_template import pod_from, pod_prefix
from steersman_cluster.workloads.pods.selectors import (
    CONTROLLER_INDEX,
    SELECTOR_INDEX,
    by_controller_or_labels,
    by_selector,
    is_empty,
    selector_index_key,
    selector_of,
    selects,
)
from steersman_cluster.workloads.pods.template_hash import safe_name, template_hash
from steersman_cluster.workloads.pods.watches import (
    ControllerOfKind,
    is_counted_differently,
    objects_selecting,
    only_deletions,
    watching,
    watching_pods,
)

__all__ = [
    "CONTROLLER_INDEX",
    "SELECTOR_INDEX",
    "Claim",
    "ControllerOfKind",
    "available_in_seconds",
    "by_controller_or_labels",
    "by_selector",
    "candidates",
    "claim",
    "claim_among",
    "claimed",
    "condition",
    "deletion_cost",
    "deletion_order",
    "is_active",
    "is_available",
    "is_counted_differently",
    "is_empty",
    "is_ended",
    "is_ready",
    "is_terminating",
    "next_available_seconds",
    "node_of",
    "objects_selecting",
    "only_deletions",
    "phase",
    "pod_from",
    "pod_prefix",
    "ready_since",
    "restarts",
    "safe_name",
    "selector_index_key",
    "selector_of",
    "selects",
    "template_hash",
    "watching",
    "watching_pods",
]
