"""The garbage collector: it deletes objects whose owners are gone.

Takes:     the metadata of all objects of deletable kinds
Gives:     deletions of dependents whose owners are gone, and owners without their finalizers
Promises:  - dependents go when the last of their owners has gone
           - nothing is deleted whose owner is there
           - an owner that waits goes after the last dependent that blocks it
           - orphaned dependents stay and name their owner no more
           - a dependent keeps its owners that are there and loses the others
           - circles of owners do not keep each other from being deleted
           - a new kind is collected as soon as it is defined
           - a kind that may not be read does not stop the others
Never:     deletes without uid and resource version as preconditions, or keeps whole objects
"""

from functools import partial

from steersman.manager import Runnable
from steersman_cluster.workloads.garbagecollector.controller import NAME, collect_garbage
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["runnables"]


def runnables(settings: WorkloadSettings) -> tuple[Runnable, ...]:
    """The garbage collector."""
    collect = partial(collect_garbage, on_first_write=settings.on_first_write)
    return (Runnable(collect, name=NAME),)
