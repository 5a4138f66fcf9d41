"""``Every`` and ``Keys``: sources that enqueue objects for reasons outside the cluster."""

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import TypeAlias

from steersman.controller.cache_reader import CacheReader
from steersman.controller.declaration.functions import name_of
from steersman.errors import BadValue
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey


@dataclass(frozen=True, slots=True)
class Every:
    """A source that enqueues objects every ``seconds``, up to a tenth earlier or later.

    The source enqueues the keys or objects that ``keys`` returns; without ``keys``, it enqueues all
    objects of the controller's kind. They have a lower priority than changed objects.
    """

    seconds: float
    keys: Callable[[CacheReader], Iterable[ObjectKey | Resource | Unstructured]] | None = None

    def __post_init__(self) -> None:
        if not (isfinite(self.seconds) and self.seconds > 0):
            raise BadValue(
                wanted="a period",
                value=self.seconds,
                rule="it must be a positive number of seconds",
            )

    @property
    def title(self) -> str:
        """The name of the source in logs and metrics."""
        chosen = f", {name_of(self.keys)}" if self.keys is not None else ""
        return f"every {self.seconds:g} s{chosen}"


@dataclass(frozen=True, slots=True)
class Keys:
    """A source that enqueues the objects whose keys a stream yields.

    ``open`` returns the stream; an ``async def`` with ``yield`` is sufficient. It is called again
    when the stream has ended or failed. Changes while no stream is open must not be missed: if
    there is no other way, each new stream must first yield all keys.
    """

    open: Callable[[], AsyncIterator[ObjectKey]]
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.open):
            raise BadValue(
                wanted="a stream of keys",
                value=self.open,
                rule="it must be a function that opens a stream: pass the function, do not call it",
            )

    @property
    def title(self) -> str:
        """The name of the source in logs and metrics."""
        return self.name or name_of(self.open)


Source: TypeAlias = Every | Keys
