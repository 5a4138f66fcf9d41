"""The identity of a Kubernetes object, as an owner reference specifies it."""

from typing import NamedTuple

from steersman.kinds.meta_v1 import OwnerReference


class Identity(NamedTuple):
    """The kind, API version, namespace, name and uid of a Kubernetes object.

    For a cluster-scoped object, ``namespace`` is ``""``. If owner references specify several
    identities with the same uid, the garbage collector tries them in sort order.
    """

    kind: str
    api_version: str
    namespace: str
    name: str
    uid: str

    def __str__(self) -> str:
        # As Kubernetes' own collector writes it.
        where = f"namespace: {self.namespace}, name: {self.name}, uid: {self.uid}"
        return f"[{self.api_version}/{self.kind}, {where}]"


def named_by(owner: OwnerReference, namespace: str) -> Identity:
    """Return the identity of the owner that ``owner`` references.

    ``namespace`` is the namespace of the object that contains the owner reference.
    """
    return Identity(owner.kind, owner.api_version, namespace, owner.name, owner.uid)


def is_named(identity: Identity, owner: OwnerReference) -> bool:
    """Return whether ``owner`` references the object ``identity``, ignoring the namespace."""
    return (
        owner.uid == identity.uid
        and owner.name == identity.name
        and owner.kind == identity.kind
        and owner.api_version == identity.api_version
    )
