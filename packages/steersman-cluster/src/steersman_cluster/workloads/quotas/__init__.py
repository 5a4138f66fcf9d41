"""ResourceQuotas: what the objects of a namespace use, said in the status of its quotas.

Takes:     quotas, and the objects of the kinds that they count
Gives:     the quotas' status: how much may be used, and how much is
Promises:  - what is gone is given back
           - what the server has charged is not charged again
           - what the server has charged in the meantime stays charged
           - a change costs no more than the object that changed
           - nothing is followed that no quota counts
Never:     refuses anything: the server does, by what is said here
"""

from steersman.manager import Runnable
from steersman_cluster.workloads.quotas.controller import NAME, run
from steersman_cluster.workloads.quotas.evaluators import usage, user_of
from steersman_cluster.workloads.quotas.quota_usage import Ledger
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["Ledger", "runnables", "usage", "user_of"]


def runnables(_: WorkloadSettings) -> tuple[Runnable, ...]:
    """What keeps the status of quotas."""
    return (Runnable(run, name=NAME),)
