"""Sample objects for caches, typed and unstructured."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from steersman.errors import InvalidObject
from steersman.kinds import CustomResource, Part, Resource, Unstructured
from steersman.kinds.meta_v1 import ObjectMeta, OwnerReference
from steersman.names import ObjectKey
from steersman.watch import key_of

Obj = TypeVar("Obj", bound=Resource | Unstructured)


def by_key(objects: Sequence[Obj]) -> Mapping[ObjectKey, Obj]:
    """A list as the reflector passes it on: each key once."""
    keyed = {key_of(each): each for each in objects}
    assert len(keyed) == len(objects)
    return keyed


class Spec(Part):
    size: int = 0
    settings: Mapping[str, str] | None = None


class Status(Part):
    pass


class Thing(CustomResource[Spec, Status], group="things.example.com", version="v1"):
    """A custom resource for the tests."""


AnyThing = Unstructured.of("things.example.com/v1", "Thing")


def thing(
    name: str,
    *,
    version: int | str = "",
    uid: str | None = "",
    namespace: str | None = "default",
    size: int = 0,
    labels: Mapping[str, str] | None = None,
    owners: tuple[str, ...] = (),
    controller: str | None = None,
) -> Thing:
    references = [
        OwnerReference(api_version="v1", kind="Owner", name=owner, uid=owner) for owner in owners
    ]
    if controller is not None:
        references.append(
            OwnerReference(
                api_version="v1", kind="Owner", name=controller, uid=controller, controller=True
            )
        )
    metadata = ObjectMeta(
        name=name,
        namespace=namespace,
        uid=f"uid-of-{name}" if uid == "" else uid,
        resource_version=str(version) or None,
        labels=labels,
        owner_references=tuple(references) or None,
    )
    return Thing(
        api_version="things.example.com/v1",
        kind="Thing",
        metadata=metadata,
        spec=Spec(size=size, settings={"mode": "quiet"}),
    )


def as_unstructured(obj: Thing) -> Unstructured:
    """The same object, unstructured."""
    given = obj.metadata
    metadata: dict[str, Any] = {"name": given.name, "uid": given.uid}
    if given.namespace:
        metadata["namespace"] = given.namespace
    if given.resource_version:
        metadata["resourceVersion"] = given.resource_version
    if given.labels is not None:
        metadata["labels"] = dict(given.labels)
    if given.owner_references is not None:
        metadata["ownerReferences"] = [
            {
                "kind": owner.kind,
                "name": owner.name,
                "uid": owner.uid,
                "controller": owner.controller,
            }
            for owner in given.owner_references
        ]
    return AnyThing(
        {
            "apiVersion": "things.example.com/v1",
            "kind": "Thing",
            "metadata": metadata,
            "spec": {"size": obj.spec.size, "settings": {"mode": "quiet"}, "ports": [1, 2]},
        }
    )


def undecodable(
    name: str, *, version: int | str = "", uid: str = "", namespace: str | None = "default"
) -> InvalidObject:
    """The error for a Thing of this name that cannot be decoded."""
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": uid or f"uid-of-{name}",
        "resourceVersion": str(version),
    }
    return InvalidObject(
        ref=f"Thing {namespace}/{name}",
        into="Thing",
        problem="Expected `int`, got `str` - at `$.spec.size`",
        body={"metadata": metadata, "spec": {"size": "canary-5c1d"}},
    )


BOTH = (Thing, Unstructured)


def as_kind(kind: type[Resource | Unstructured], obj: Thing) -> Any:
    """``obj`` as an object of ``kind``."""
    return as_unstructured(obj) if issubclass(kind, Unstructured) else obj
