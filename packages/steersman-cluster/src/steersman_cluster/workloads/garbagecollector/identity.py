"""Who an object is, as those know it that name it as their owner."""

from typing import NamedTuple

from steersman.kinds.meta_v1 import OwnerReference


class Identity(NamedTuple):
    """An object by kind, place, name and uid; ``namespace`` is ``""`` for what lives in none.

    In the order in which those are tried that are said to have one and the same uid.
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
    """The owner that an object of this namespace names."""
    return Identity(owner.kind, owner.api_version, namespace, owner.name, owner.uid)


def is_named(identity: Identity, owner: OwnerReference) -> bool:
    """Whether a reference means this object, wherever it is."""
    return (
        owner.uid == identity.uid
        and owner.name == identity.name
        and owner.kind == identity.kind
        and owner.api_version == identity.api_version
    )
