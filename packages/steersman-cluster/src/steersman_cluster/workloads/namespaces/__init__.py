"""What each namespace has from its beginning, and how it ends with all that is in it.

Takes:     namespaces, and whatever kinds of objects are in those that are being deleted
Gives:     a default ServiceAccount and the root certificate in each; the end of a namespace's
           content, and then its own
Promises:  - every namespace has a default ServiceAccount and the root certificate
           - they are made again when they are deleted and put right when they are changed
           - a namespace goes when all that is in it has gone
           - what holds up a namespace is in its conditions
           - Pods end before anything else is deleted
           - a kind that cannot be deleted does not keep the others
Never:     creates anything in a namespace that is being deleted, or takes a finalizer off anything
           but a namespace
"""

from typing import Any

from steersman.controller import Controller
from steersman.manager import Runnable
from steersman_cluster.workloads.namespaces.controller import NAME, end_namespaces
from steersman_cluster.workloads.namespaces.default_objects import furnisher
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers", "runnables"]


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """What furnishes namespaces."""
    return (furnisher(root_ca=settings.root_ca),)


def runnables(settings: WorkloadSettings) -> tuple[Runnable, ...]:  # noqa: ARG001 - as in all rooms
    """What ends them."""
    return (Runnable(end_namespaces, name=NAME),)
