"""``Every`` and ``Keys``: sources that wake objects for reasons that are not in the cluster."""

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
    """Wake objects every so many seconds, a tenth earlier or later.

    All of the controller's kind, or those that ``keys`` gives of what is cached: keys or objects.
    They wait behind what has changed.
    """

    seconds: float
    keys: Callable[[CacheReader], Iterable[ObjectKey | Resource | Unstructured]] | None = None

    def __post_init__(self) -> None:
        if not (isfinite(self.seconds) and self.seconds > 0):
            raise BadValue(
                wanted="a period", value=self.seconds, rule="it is a positive number of seconds"
            )

    @property
    def title(self) -> str:
        """The source, as people know it."""
        chosen = f", {name_of(self.keys)}" if self.keys is not None else ""
        return f"every {self.seconds:g} s{chosen}"


@dataclass(frozen=True, slots=True)
class Keys:
    """Wake the objects whose keys come out of a stream.

    ``open`` is called to open it, and again when it has ended or failed: an ``async def`` with
    ``yield`` serves. What happened while it was closed must not be lost on it: begin with all keys
    that may be meant, if there is no other way.
    """

    open: Callable[[], AsyncIterator[ObjectKey]]
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.open):
            raise BadValue(
                wanted="a stream of keys",
                value=self.open,
                rule="it is a function that opens one: pass the function, without calling it",
            )

    @property
    def title(self) -> str:
        """The source, as people know it."""
        return self.name or name_of(self.open)


Source: TypeAlias = Every | Keys
