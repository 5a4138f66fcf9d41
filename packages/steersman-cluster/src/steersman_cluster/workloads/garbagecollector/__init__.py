"""The garbage collector: it deletes objects whose owners no longer exist.

Takes:     the metadata of all objects of deletable kinds
Gives:     deletions of dependents without existing owners, and owners without their finalizers
Promises:  - a dependent is deleted after its last owner
           - no object is deleted while an owner exists
           - foreground deletion waits for the last blocking dependent
           - orphaned dependents are kept without the owner reference
           - a dependent keeps existing owners and loses absent ones
           - a cycle of owners does not block deletion
           - objects of a new kind are collected as soon as the kind is defined
           - a kind without read permission does not block the others
Never:     deletes without uid and resource version as preconditions, or stores full objects
"""

from functools import partial

from steersman.manager import Runnable
from steersman_cluster.workloads.garbagecollector.controller import NAME, collect_garbage
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["runnables"]


def runnables(settings: WorkloadSettings) -> tuple[Runnable, ...]:
    """Return the garbage collector."""
    collect = partial(collect_garbage, on_first_write=settings.on_first_write)
    return (Runnable(collect, name=NAME),)
