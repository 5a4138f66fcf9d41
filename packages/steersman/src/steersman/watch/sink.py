"""Who is told: what a reflector has heard, in the order of the server's story."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from steersman.errors import InvalidObject
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey

Obj_contra = TypeVar("Obj_contra", bound=Resource | Unstructured, contravariant=True)


class Sink(Protocol[Obj_contra]):
    """Takes in what a reflector hears.

    It must not raise: nobody knows what a sink that does has taken in. A ``SteersmanError`` from it
    would pass for trouble with the watch, and anything else ends the reflector.
    """

    def replace(
        self,
        objects: Mapping[ObjectKey, Obj_contra],
        misfits: Sequence[InvalidObject],
        version: str,
        *,
        rewound: bool,
    ) -> None:
        """This is all there is at ``version``, by key, with what does not fit its class set apart.

        Nobody changes ``objects`` afterwards, and neither may the sink. ``rewound``: the server's
        history is another than it was; no earlier version means anything.
        """
        ...

    def upsert(self, obj: Obj_contra) -> None:
        """The object was created or changed."""
        ...

    def delete(self, obj: Obj_contra) -> None:
        """The object is gone; this was its last state."""
        ...

    def decode_failed(self, error: InvalidObject, version: str, *, is_gone: bool) -> None:
        """An object was written, or is gone, that does not fit its class."""
        ...

    def progress(self, version: str) -> None:
        """Everything up to ``version`` has been told."""
        ...
