"""Builds a list of objects from pages, or from the initial events of a watch. No I/O.

Between the initial events, there may also be events about objects that were already received.
"""

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from steersman._collector import gc_paused
from steersman.client import DecodeFailure, ObjectDeleted, ObjectWritten
from steersman.errors import InvalidObject
from steersman.kinds import DecodedList, Resource, Unstructured
from steersman.names import ObjectKey
from steersman.watch.keys import identity_in, key_of

Obj = TypeVar("Obj", bound=Resource | Unstructured)


class ListBuilder(Generic[Obj]):
    """A list that is being received: the objects received so far, by key."""

    def __init__(self) -> None:
        self._objects: dict[ObjectKey, Obj] = {}
        # By the error's id if there is no name: an undecodable object may have none.
        self._decode_failures: dict[ObjectKey | int, InvalidObject] = {}

    @property
    def objects(self) -> Mapping[ObjectKey, Obj]:
        """The objects received so far that could be decoded, by key."""
        return self._objects

    @property
    def decode_failures(self) -> Sequence[InvalidObject]:
        """The errors for the objects that could not be decoded.

        An object that was also received in a decodable state is not included.
        """
        return [error for key, error in self._decode_failures.items() if key not in self._objects]

    def add_page(self, page: DecodedList[Obj]) -> None:
        """Add the objects of ``page``; an object that was already added is not replaced."""
        objects = self._objects
        with gc_paused():
            for obj in page.items:
                objects.setdefault(key_of(obj), obj)
        for error in page.invalid:
            key = _key_in(error)
            self._decode_failures.setdefault(key if key.name else id(error), error)

    def add(self, event: ObjectWritten[Obj] | ObjectDeleted[Obj] | DecodeFailure) -> None:
        """Apply ``event``, which was received among the initial events, to the list."""
        if isinstance(event, ObjectWritten):
            self._objects[key_of(event.obj)] = event.obj
        elif isinstance(event, ObjectDeleted):
            self._forget(key_of(event.obj))
        else:
            key = _key_in(event.error)
            self._forget(key)
            if not event.is_gone:
                self._decode_failures[key if key.name else id(event.error)] = event.error

    def _forget(self, key: ObjectKey) -> None:
        self._objects.pop(key, None)
        self._decode_failures.pop(key, None)


def _key_in(error: InvalidObject) -> ObjectKey:
    key, _, _ = identity_in(error.body)
    return key
