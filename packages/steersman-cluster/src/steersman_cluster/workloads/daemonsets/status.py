"""The status of a DaemonSet. No I/O."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from steersman.kinds import apps_v1
from steersman_cluster.workloads.daemonsets.node_fit import DaemonSet, Fit, Pod
from steersman_cluster.workloads.daemonsets.template_version import Version
from steersman_cluster.workloads.pods import is_available, is_ready


def counted(
    daemon_set: DaemonSet,
    placed: Mapping[str, Sequence[Pod]],
    fits: Mapping[str, Fit],
    version: Version,
    *,
    collisions: int,
    min_ready_seconds: int,
    now: datetime,
) -> apps_v1.DaemonSetStatus:
    """Return the status of ``daemon_set``, with its Pods and nodes counted.

    ``placed`` contains the existing Pods by node, and ``fits`` the result of ``fit`` for each node.
    If a node has several Pods, only the first in ``placed`` counts.
    """
    desired = current = misplaced = ready = available = updated = 0
    for node, each in fits.items():
        pods = placed.get(node)
        if not each.should_run:
            misplaced += bool(pods)
            continue
        desired += 1
        if not pods:
            continue
        current += 1
        oldest = pods[0]
        if is_ready(oldest):
            ready += 1
            available += is_available(oldest, min_ready_seconds, now)
        updated += version.is_of(oldest)
    before = daemon_set.status
    # The server omits zeros of these fields.
    return apps_v1.DaemonSetStatus(
        collision_count=collisions or None,
        conditions=before.conditions if before is not None else None,
        current_number_scheduled=current,
        desired_number_scheduled=desired,
        number_available=available or None,
        number_misscheduled=misplaced,
        number_ready=ready,
        number_unavailable=(desired - available) or None,
        observed_generation=daemon_set.generation,
        updated_number_scheduled=updated or None,
    )
