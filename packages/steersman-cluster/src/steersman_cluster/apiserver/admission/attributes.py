"""The attributes of one write request, as admission receives them."""

from dataclasses import dataclass

from steersman.names import GroupResource, GroupVersionKind, GroupVersionResource
from steersman_cluster.apiserver.meta.status_errors import StatusError, forbidden
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.users import User

CREATE, UPDATE, DELETE = "CREATE", "UPDATE", "DELETE"

_CONFIGURATIONS = "admissionregistration.k8s.io"
# A webhook or policy for these kinds could prevent its own removal.
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
class AdmissionAttributes:
    """A write request: the user, the operation and the object.

    ``obj``, the object to write, is None for a delete. ``old``, the stored object, is None for a
    create. Both are in the API version of ``kind``. Neither object is ever mutated.
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
        """Whether the object configures webhooks or policies.

        No webhook is called for such an object.
        """
        return self.kind.group == _CONFIGURATIONS and self.kind.kind in _EXEMPT

    @property
    def is_namespace(self) -> bool:
        """Whether the object is a Namespace.

        If it is, ``namespace`` is the object's own name, although Namespaces are cluster-scoped.
        """
        return self.resource == _NAMESPACES

    @property
    def group_resource(self) -> GroupResource:
        """The API group and the resource name, without the API version."""
        return GroupResource(self.resource.group, self.resource.resource)

    @property
    def shown_name(self) -> str:
        """The object's name in error messages: the name, else the generateName, else "Unknown"."""
        metadata = (self.obj or {}).get("metadata") or {}
        return (
            self.name
            or str(metadata.get("name") or metadata.get("generateName") or "")
            or "Unknown"
        )

    def forbidden(self, why: str) -> StatusError:
        """Return a ``Forbidden`` error for this request, with the reason ``why``.

        It is used where the server itself denies the request, not a webhook.
        """
        return forbidden(self.group_resource, self.shown_name, why)
