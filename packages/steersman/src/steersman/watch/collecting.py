"""What there is, on its way to becoming a list: page by page, or event by event. Pure.

While initial events are told, things go on happening, and what is told of those comes among them.
"""

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from steersman._collector import nothing_collected
from steersman.client import DecodeFailure, Removed, Wrote
from steersman.errors import InvalidObject
from steersman.kinds import DecodedList, Resource, Unstructured
from steersman.names import ObjectKey
from steersman.watch.keys import identity_in, key_of

Obj = TypeVar("Obj", bound=Resource | Unstructured)


class Collection(Generic[Obj]):
    """What is there, by all that was heard so far.

    By key from the first, so that nothing is left to do for that once the last has come.
    """

    def __init__(self) -> None:
        self._fitting: dict[ObjectKey, Obj] = {}
        # What has no name is by the error itself: of what does not fit, nothing is certain.
        self._misfits: dict[ObjectKey | int, InvalidObject] = {}

    @property
    def objects(self) -> Mapping[ObjectKey, Obj]:
        """Those that fit their class."""
        return self._fitting

    @property
    def misfits(self) -> Sequence[InvalidObject]:
        """Those that do not; what is there in both ways fits."""
        return [error for key, error in self._misfits.items() if key not in self._fitting]

    def add_page(self, page: DecodedList[Obj]) -> None:
        """Take in some of a list; of what is in it twice, the first."""
        fitting = self._fitting
        with nothing_collected():
            for obj in page.items:
                fitting.setdefault(key_of(obj), obj)
        for error in page.invalid:
            key = _key_in(error)
            self._misfits.setdefault(key if key.name else id(error), error)

    def add(self, event: Wrote[Obj] | Removed[Obj] | DecodeFailure) -> None:
        """Take in one event."""
        if isinstance(event, Wrote):
            self._fitting[key_of(event.obj)] = event.obj
        elif isinstance(event, Removed):
            self._forget(key_of(event.obj))
        else:
            key = _key_in(event.error)
            self._forget(key)
            if not event.is_gone:
                self._misfits[key if key.name else id(event.error)] = event.error

    def _forget(self, key: ObjectKey) -> None:
        self._fitting.pop(key, None)
        self._misfits.pop(key, None)


def _key_in(error: InvalidObject) -> ObjectKey:
    key, _, _ = identity_in(error.body)
    return key
