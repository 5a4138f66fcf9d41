"""Two coordinates of a kind: by what an object says it is, and by where it is asked for."""

from steersman.kinds import apps_v1
from steersman.names import GroupVersionKind, GroupVersionResource

# What is in every manifest: apiVersion and kind.
gvk = GroupVersionKind.of("apps/v1", "Deployment")

# What is in every path: /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME.
gvr = GroupVersionResource("apps", "v1", "deployments")

# A class knows both, and whether its objects live in a namespace.
resource_type = apps_v1.Deployment.resource_type
