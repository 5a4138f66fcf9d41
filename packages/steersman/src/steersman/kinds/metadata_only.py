"""``metadata_only``: a class for objects of which only the metadata is read.

Code that needs only names, labels or owners saves traffic and memory with this class.
"""

from functools import cache
from types import new_class
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from steersman.kinds.resource import Resource
from steersman.kinds.unstructured import Unstructured
from steersman.names import GroupVersionKind, ResourceType

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# The apiVersion and kind in the server's answers, for objects of any kind.
PARTIAL_METADATA: Final = GroupVersionKind("meta.k8s.io", "v1", "PartialObjectMetadata")


class MetadataOnly(Resource):
    """The metadata of an object; its ``kind`` and ``ref`` are those of the complete object.

    ``metadata_only`` returns a subclass for each kind. Its objects can be read, patched and
    deleted, but neither created nor applied.
    """

    if not TYPE_CHECKING:  # callers see those of the whole object, see below
        api_version: Literal["meta.k8s.io/v1"] = "meta.k8s.io/v1"
        kind: Literal["PartialObjectMetadata"] = "PartialObjectMetadata"


def metadata_only(kind: type[Obj] | ResourceType) -> type[MetadataOnly]:
    """Return a class for the metadata of objects of ``kind``, which can be used as a kind.

    The result is the same for all classes of the kind, and for its resource type.
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
        # These hide the fields from callers, who get the object's own kind. The codec reads the
        # fields, and so checks the values from the server.
        "api_version": gvk.api_version,
        "kind": gvk.kind,
    }
    return new_class(f"{gvk.kind}Metadata", (MetadataOnly,), exec_body=lambda ns: ns.update(named))
