"""Owner references: which objects own and control an object. No I/O."""

from typing import Any, TypeVar

from msgspec.structs import replace

from steersman.errors import BadOwner
from steersman.kinds import Resource, Unstructured, meta_v1

Obj = TypeVar("Obj", bound=Resource | Unstructured)


def owner_reference(
    owner: Resource | Unstructured, *, controller: bool = True
) -> meta_v1.OwnerReference:
    """Return an owner reference that refers to ``owner``.

    The reference contains ``controller: true`` if ``controller`` is true.
    """
    gvk = owner.gvk if isinstance(owner, Unstructured) else owner.resource_type.gvk
    return meta_v1.OwnerReference(
        api_version=gvk.api_version,
        kind=gvk.kind,
        name=owner.name,
        uid=owner.uid,
        controller=True if controller else None,
        # A foreground deletion of the owner waits for the objects that it controls.
        block_owner_deletion=True if controller else None,
    )


def references_of(obj: Resource | Unstructured) -> tuple[meta_v1.OwnerReference, ...]:
    """Return all owner references of ``obj``."""
    if isinstance(obj, Unstructured):
        return tuple(map(_read, obj.metadata.get("ownerReferences") or ()))
    return obj.metadata.owner_references or ()


def controller_of(obj: Resource | Unstructured) -> meta_v1.OwnerReference | None:
    """Return the owner reference of ``obj`` with ``controller: true``; ``None`` if it has none."""
    for each in references_of(obj):
        if each.controller:
            return each
    return None


def owner_text(reference: meta_v1.OwnerReference, namespace: str | None) -> str:
    """Return the owner in ``reference`` as ``Kind namespace/name``.

    ``namespace`` is the namespace of the owned object.
    """
    place = f"{namespace}/" if namespace else ""
    return f"{reference.kind} {place}{reference.name}"


def owned_by(child: Obj, owner: Resource | Unstructured) -> Obj:
    """Return a copy of ``child`` in the namespace of ``owner``, with ``owner`` as controller.

    The other owner references of ``child`` are preserved.
    """
    reference = owner_reference(owner)
    if not reference.uid:
        raise _bad(child, owner, "it has no uid: read it from the server first")
    namespace = _home(child, owner)
    others = references_of(child)
    if others:
        others = tuple(each for each in others if not each.controller and each.uid != reference.uid)
    references = (reference, *others)
    if isinstance(child, Unstructured):
        metadata = {**child.metadata, "ownerReferences": [_written(each) for each in references]}
        if namespace:
            metadata["namespace"] = namespace
        return type(child)({**child.body, "metadata": metadata})
    kept: Any = child
    meta = replace(kept.metadata, namespace=namespace, owner_references=references)
    owned: Obj = replace(kept, metadata=meta)
    return owned


def _home(child: Resource | Unstructured, owner: Resource | Unstructured) -> str | None:
    home, wanted = owner.namespace, child.namespace
    if home is None:
        return wanted
    if not child.resource_type.namespaced:
        raise _bad(child, owner, "an owner in a namespace cannot own a cluster-scoped object")
    if wanted is not None and wanted != home:
        raise _bad(child, owner, "owner and owned object must be in the same namespace")
    return home


def _bad(child: Resource | Unstructured, owner: Resource | Unstructured, rule: str) -> BadOwner:
    return BadOwner(owner=str(owner.ref), wanted=str(child.ref), rule=rule)


def _read(body: Any) -> meta_v1.OwnerReference:
    return meta_v1.OwnerReference(
        api_version=str(body.get("apiVersion", "")),
        kind=str(body.get("kind", "")),
        name=str(body.get("name", "")),
        uid=str(body.get("uid", "")),
        controller=body.get("controller"),
        block_owner_deletion=body.get("blockOwnerDeletion"),
    )


def _written(reference: meta_v1.OwnerReference) -> dict[str, Any]:
    body = {
        "apiVersion": reference.api_version,
        "kind": reference.kind,
        "name": reference.name,
        "uid": reference.uid,
        "controller": reference.controller,
        "blockOwnerDeletion": reference.block_owner_deletion,
    }
    return {name: value for name, value in body.items() if value is not None}
