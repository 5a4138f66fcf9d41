"""The protocol of a reflector's store, which receives all events in the server's order."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from steersman.errors import InvalidObject
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey

Obj_contra = TypeVar("Obj_contra", bound=Resource | Unstructured, contravariant=True)


class ReflectorStore(Protocol[Obj_contra]):
    """A store of the objects that a reflector receives, like client-go's ``Store``.

    The methods must not raise exceptions: a ``SteersmanError`` would be treated as a failure of the
    watch, and any other exception would end the reflector.
    """

    def replace(
        self,
        objects: Mapping[ObjectKey, Obj_contra],
        decode_failures: Sequence[InvalidObject],
        version: str,
        *,
        rewound: bool,
    ) -> None:
        """Replace all objects by ``objects``, the result of a list at ``version``.

        ``decode_failures`` are the errors for the listed objects that cannot be decoded. The store
        must not change ``objects``. If ``rewound`` is true, the server's history was reset, for
        example by a restore of a backup: resource versions from before the reset must not be
        compared with later ones.
        """
        ...

    def upsert(self, obj: Obj_contra) -> None:
        """Store ``obj``, which was created or changed."""
        ...

    def delete(self, obj: Obj_contra) -> None:
        """Remove an object that was deleted; ``obj`` is its last state."""
        ...

    def decode_failed(self, error: InvalidObject, version: str, *, is_gone: bool) -> None:
        """Record an event at ``version`` about an object that cannot be decoded.

        The object was deleted if ``is_gone``; otherwise it was created or changed.
        """
        ...

    def progress(self, version: str) -> None:
        """Record that all events up to ``version`` have been received."""
        ...
