"""Initial events on their way to becoming a list. Pure.

Most are objects as they are, each once. While they are told, things go on happening, and those
events may come among them.
"""

from typing import Generic, TypeVar

from steersman.client import Misfit, Removed, Wrote
from steersman.errors import InvalidObject
from steersman.kinds import Resource, Unstructured

Obj = TypeVar("Obj", bound=Resource | Unstructured)


class Collection(Generic[Obj]):
    """What is there, by the events heard so far."""

    def __init__(self) -> None:
        self._fitting: dict[object, Obj] = {}
        self._misfits: dict[object, InvalidObject] = {}

    @property
    def objects(self) -> list[Obj]:
        """Those that fit their class."""
        return list(self._fitting.values())

    @property
    def misfits(self) -> list[InvalidObject]:
        """Those that do not."""
        return list(self._misfits.values())

    def add(self, event: Wrote[Obj] | Removed[Obj] | Misfit) -> None:
        """Take in one event."""
        if isinstance(event, Wrote):
            key: object = (event.obj.namespace, event.obj.name)
            self._fitting[key] = event.obj
            self._misfits.pop(key, None)
        elif isinstance(event, Removed):
            self._forget((event.obj.namespace, event.obj.name))
        else:
            key = _key_of(event.error)
            self._forget(key)
            if not event.is_gone:
                self._misfits[key] = event.error

    def _forget(self, key: object) -> None:
        self._fitting.pop(key, None)
        self._misfits.pop(key, None)


def _key_of(error: InvalidObject) -> object:
    # Of what does not fit, nothing is certain, not even that it has a name.
    metadata = error.body.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return id(error)
    namespace = metadata.get("namespace")
    return (namespace if isinstance(namespace, str) else None, metadata["name"])
