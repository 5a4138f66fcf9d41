"""Names and keys cannot be changed, replaced by other values, or created with a missing part."""

from steersman.names import GroupVersionKind, GroupVersionResource

deployment = GroupVersionKind.of("apps/v1", "Deployment")
deployment.version = "v2"  # rejected
by_plural: GroupVersionResource = deployment  # rejected
GroupVersionKind("apps", "v1")  # rejected
