"""Conversion between the served versions of a kind and its stored version.

Events are stored as v1, and HorizontalPodAutoscalers as autoscaling/v2.
"""

from collections.abc import Mapping

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.workloads import autoscaler_versions
from steersman_cluster.apiserver.meta.strategy import Object

EVENTS = GroupResource("", "events")
NEW_EVENTS = GroupResource("events.k8s.io", "events")

# The resource with which a resource shares its stored objects.
STORED_RESOURCE: Mapping[GroupResource, GroupResource] = {NEW_EVENTS: EVENTS}

# The fields of an Event in v1, and their names in events.k8s.io/v1.
_RENAMED = {
    "involvedObject": "regarding",
    "source": "deprecatedSource",
    "message": "note",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_RENAMED_BACK = {new: old for old, new in _RENAMED.items()}
# Fields that v1 writes even if they are empty. events.k8s.io/v1 omits them.
_ALWAYS_IN_V1 = ("reportingComponent", "reportingInstance")


def to_stored(obj: Object) -> Object:
    """Return ``obj`` in the stored version of its kind.

    The result is ``obj`` itself, or a new object that shares the unchanged parts.
    """
    match obj["apiVersion"], obj["kind"]:
        case "events.k8s.io/v1", "Event":
            return event_to_v1(obj)
        case "autoscaling/v1", "HorizontalPodAutoscaler":
            return autoscaler_versions.to_v2(obj)
        case _:
            return obj


def to_served(obj: Object, api_version: str) -> Object:
    """Return ``obj``, which is in the stored version, in the version ``api_version``.

    The result is ``obj`` itself, or a new object that shares the unchanged parts.
    """
    if obj["apiVersion"] == api_version:
        return obj
    match api_version, obj["kind"]:
        case "events.k8s.io/v1", "Event":
            return event_from_v1(obj)
        case "autoscaling/v1", "HorizontalPodAutoscaler":
            return autoscaler_versions.to_v1(obj)
        case _:
            return obj


def event_to_v1(event: Object) -> Object:
    """Convert an Event from events.k8s.io/v1 to v1."""
    old = {_RENAMED_BACK.get(key, key): value for key, value in event.items()}
    for name in _ALWAYS_IN_V1:
        old.setdefault(name, "")
    old["apiVersion"] = "v1"
    return old


def event_from_v1(event: Object) -> Object:
    """Convert an Event from v1 to events.k8s.io/v1."""
    new = {
        _RENAMED.get(key, key): value
        for key, value in event.items()
        if value or key not in _ALWAYS_IN_V1
    }
    new["apiVersion"] = "events.k8s.io/v1"
    return new
