"""The namespace controller, and the default objects of each namespace.

Takes:     namespaces, and all objects in terminating namespaces
Gives:     a default ServiceAccount and the root certificate in each; the deletion of a namespace's
           content, and then of the namespace
Promises:  - every namespace has a default ServiceAccount and the root certificate
           - default objects are created again after a deletion and corrected after a change
           - a namespace is deleted after its content
           - what blocks a deletion is in the conditions of the namespace
           - Pods are deleted before anything else
           - a kind that cannot be deleted does not block the others
Never:     creates an object in a terminating namespace, or removes a finalizer of an object that is
           not a namespace
"""

from typing import Any

from steersman.controller import Controller
from steersman.manager import Runnable
from steersman_cluster.workloads.namespaces.controller import NAME, delete_namespaces
from steersman_cluster.workloads.namespaces.default_objects import default_objects_controller
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers", "runnables"]


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """Return the controllers that maintain the default objects."""
    return (default_objects_controller(root_ca=settings.root_ca),)


def runnables(settings: WorkloadSettings) -> tuple[Runnable, ...]:  # noqa: ARG001 - the signature of all parts
    """Return the namespace controller."""
    return (Runnable(delete_namespaces, name=NAME),)
