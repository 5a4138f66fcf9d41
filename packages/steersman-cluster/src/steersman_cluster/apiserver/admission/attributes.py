"""What admission looks at: one write, before it is made."""

from dataclasses import dataclass

from steersman.names import GroupResource, GroupVersionKind, GroupVersionResource
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.meta.status_errors import StatusError, forbidden
from steersman_cluster.apiserver.meta.users import User

CREATE, UPDATE, DELETE = "CREATE", "UPDATE", "DELETE"

_CONFIGURATIONS = "admissionregistration.k8s.io"
# Who could forbid changes of what forbids them would never be got rid of.
_EXEMPT = frozenset(
    (
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    )
)
_NAMESPACES = GroupVersionResource("", "v1", "namespaces")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """Who wants to do what to which object.

    ``obj`` is None for a deletion, ``old`` for a creation. Both are in the version of ``kind``, and
    neither is ever changed.
    """

    operation: str
    kind: GroupVersionKind
    resource: GroupVersionResource
    subresource: str
    namespace: str
    name: str
    user: User
    obj: Object | None
    old: Object | None
    options: Object
    dry_run: bool

    @property
    def is_exempt(self) -> bool:
        """Whether webhooks are never called for such objects."""
        return self.kind.group == _CONFIGURATIONS and self.kind.kind in _EXEMPT

    @property
    def is_namespace(self) -> bool:
        """Whether the object is a namespace, which is in itself and in none."""
        return self.resource == _NAMESPACES

    @property
    def group_resource(self) -> GroupResource:
        """The resource, whatever the version."""
        return GroupResource(self.resource.group, self.resource.resource)

    @property
    def shown_name(self) -> str:
        """What refusals call the object, which may have only the beginning of a name yet."""
        metadata = (self.obj or {}).get("metadata") or {}
        return (
            self.name
            or str(metadata.get("name") or metadata.get("generateName") or "")
            or "Unknown"
        )

    def forbidden(self, why: str) -> StatusError:
        """A no of the server's own."""
        return forbidden(self.group_resource, self.shown_name, why)
