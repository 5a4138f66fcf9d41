"""``metadata_only``: a kind of which nothing but the metadata is wanted.

Whoever needs only names, labels or owners spares the server, the wire and the memory the rest.
"""

from functools import cache
from types import new_class
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from steersman.kinds.resource import Resource
from steersman.kinds.unstructured import Unstructured
from steersman.names import GroupVersionKind, ResourceType

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# As what the server shows such objects, whatever kind they are of.
SHOWN_AS: Final = GroupVersionKind("meta.k8s.io", "v1", "PartialObjectMetadata")


class MetadataOnly(Resource):
    """The metadata of an object; its ``kind`` and ``ref`` are those of the whole object.

    ``metadata_only`` makes a class for each kind. Its objects can be read, patched and deleted,
    but neither created nor applied: that takes the rest.
    """

    if not TYPE_CHECKING:  # to readers these are the whole object's, see below
        api_version: Literal["meta.k8s.io/v1"] = "meta.k8s.io/v1"
        kind: Literal["PartialObjectMetadata"] = "PartialObjectMetadata"


def metadata_only(kind: type[Obj] | ResourceType) -> type[MetadataOnly]:
    """A class for the metadata of a kind's objects, to be passed wherever the kind could be.

    It is the same class every time, whichever class of the kind it is asked for, or only where the
    objects live, as discovery says it.
    """
    if isinstance(kind, ResourceType):
        return _metadata_of(kind)
    return kind if issubclass(kind, MetadataOnly) else _metadata_of(kind.resource_type)


@cache
def _metadata_of(resource_type: ResourceType) -> type[MetadataOnly]:
    gvk = resource_type.gvk
    named = {
        "__module__": __name__,
        "__doc__": f"The metadata of {gvk}.",
        "resource_type": resource_type,
        # These hide the fields from readers, who want to know what the object is. The codec, which
        # goes by fields, still sees and checks what the server says there.
        "api_version": gvk.api_version,
        "kind": gvk.kind,
    }
    return new_class(f"{gvk.kind}Metadata", (MetadataOnly,), exec_body=lambda ns: ns.update(named))
