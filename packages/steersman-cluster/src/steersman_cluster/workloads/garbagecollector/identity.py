"""The identity of an object, with the fields of an owner reference."""

from typing import NamedTuple

from steersman.kinds.meta_v1 import OwnerReference


class Identity(NamedTuple):
    """The kind, namespace, name and uid of an object; ``namespace`` is ``""`` for a cluster-scoped
    object.

    If owner references give several identities for one uid, the garbage collector tries these
    identities in sort order.
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
    """Return the identity to which an owner reference of an object in this namespace points."""
    return Identity(owner.kind, owner.api_version, namespace, owner.name, owner.uid)


def is_named(identity: Identity, owner: OwnerReference) -> bool:
    """Return whether an owner reference points to this object, regardless of the namespace."""
    return (
        owner.uid == identity.uid
        and owner.name == identity.name
        and owner.kind == identity.kind
        and owner.api_version == identity.api_version
    )
