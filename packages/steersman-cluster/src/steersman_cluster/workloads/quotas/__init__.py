"""The resource quota controller, which maintains the usage in the status of ResourceQuotas.

Takes:     quotas, and the objects of the kinds that they count
Gives:     the quotas' status: hard limits and usage
Promises:  - a deleted object no longer counts
           - an object that the server has already counted is not counted twice
           - a concurrent status update by the server is kept
           - a change costs only the evaluation of the object that changed
           - a kind that no quota counts is not watched
Never:     rejects a request: the server does, by this status
"""

from steersman.manager import Runnable
from steersman_cluster.workloads.quotas.controller import NAME, run
from steersman_cluster.workloads.quotas.evaluators import kind_of_resource, usage
from steersman_cluster.workloads.quotas.quota_usage import QuotaUsage
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["QuotaUsage", "kind_of_resource", "runnables", "usage"]


def runnables(_: WorkloadSettings) -> tuple[Runnable, ...]:
    """Return the resource quota controller."""
    return (Runnable(run, name=NAME),)
