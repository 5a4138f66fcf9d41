"""The two identifiers of a kind: the type of its objects, and their path on the API server."""

from steersman.kinds import apps_v1
from steersman.names import GroupVersionKind, GroupVersionResource

# In manifests: apiVersion and kind.
gvk = GroupVersionKind.of("apps/v1", "Deployment")

# In paths: /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME.
gvr = GroupVersionResource("apps", "v1", "deployments")

# A class has both, and whether its kind is namespaced.
resource_type = apps_v1.Deployment.resource_type
