"""The protocol of a reflector's sink, which receives all events in the server's order."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from steersman.errors import InvalidObject
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey

Obj_contra = TypeVar("Obj_contra", bound=Resource | Unstructured, contravariant=True)


class Sink(Protocol[Obj_contra]):
    """A store of the objects that a reflector receives, like client-go's ``Store``.

    A sink must not raise: a ``SteersmanError`` from the sink would be handled as a failure of the
    watch, and any other exception ends the reflector.
    """

    def replace(
        self,
        objects: Mapping[ObjectKey, Obj_contra],
        decode_failures: Sequence[InvalidObject],
        version: str,
        *,
        rewound: bool,
    ) -> None:
        """Replace all objects by the objects of a list at ``version``.

        ``decode_failures`` are the listed objects that cannot be decoded. The sink must not change
        ``objects``. ``rewound``: the server has another history than before, and earlier versions
        cannot be compared with the versions of the new history.
        """
        ...

    def upsert(self, obj: Obj_contra) -> None:
        """Store an object that was created or changed."""
        ...

    def delete(self, obj: Obj_contra) -> None:
        """Remove a deleted object; ``obj`` is the object's last state."""
        ...

    def decode_failed(self, error: InvalidObject, version: str, *, is_gone: bool) -> None:
        """Record that an object that cannot be decoded was written or deleted."""
        ...

    def progress(self, version: str) -> None:
        """Record that all events up to ``version`` have been received."""
        ...
