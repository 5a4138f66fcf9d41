"""The identity of an object, as owner references name it."""

from typing import NamedTuple

from steersman.kinds.meta_v1 import OwnerReference


class Identity(NamedTuple):
    """An object by kind, namespace, name and uid; ``namespace`` is ``""`` if it is cluster-scoped.

    Identities that share a uid are tried in the order of their fields.
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
    """The identity that an owner reference of an object in this namespace names."""
    return Identity(owner.kind, owner.api_version, namespace, owner.name, owner.uid)


def is_named(identity: Identity, owner: OwnerReference) -> bool:
    """Whether an owner reference names this object, in any namespace."""
    return (
        owner.uid == identity.uid
        and owner.name == identity.name
        and owner.kind == identity.kind
        and owner.api_version == identity.api_version
    )
