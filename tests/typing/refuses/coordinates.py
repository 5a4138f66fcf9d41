"""Coordinates are never changed, and their parts never mixed up with other things."""

from steersman.names import GroupVersionKind, GroupVersionResource

deployment = GroupVersionKind.of("apps/v1", "Deployment")
deployment.version = "v2"  # refused
by_plural: GroupVersionResource = deployment  # refused
GroupVersionKind("apps", "v1")  # refused
