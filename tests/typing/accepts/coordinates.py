"""Names and keys are immutable values that can be compared and hashed."""

from steersman.names import GroupVersionKind

deployment = GroupVersionKind.of("apps/v1", "Deployment")
replicas: dict[GroupVersionKind, int] = {deployment: 3}
where: str = deployment.api_version
