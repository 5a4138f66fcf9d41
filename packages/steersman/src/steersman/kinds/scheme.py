"""``Scheme``: the Python class of each kind, and conversions between versions of a kind.

A scheme is immutable: ``with_kinds`` and ``with_conversions`` return a new one. Every scheme
contains the built-in kinds; the module of a built-in group is imported when one of its kinds is
first used.
"""

import importlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from steersman.errors import BadValue, NoConversion, UnknownKind
from steersman.kinds.builtin import BUILTIN_KINDS
from steersman.kinds.resource import Resource
from steersman.names import GroupVersionKind

A = TypeVar("A", bound=Resource)
B = TypeVar("B", bound=Resource)
R = TypeVar("R", bound=Resource)


class Conversion(msgspec.Struct, Generic[A, B], frozen=True, kw_only=True):
    """A conversion between the classes of two versions of a kind, in both directions."""

    older: type[A]
    newer: type[B]
    up: Callable[[A], B]
    down: Callable[[B], A]

    def __post_init__(self) -> None:
        old, new = self.older.resource_type.gvk, self.newer.resource_type.gvk
        if (old.group, old.kind) != (new.group, new.kind) or old == new:
            raise BadValue(
                wanted=f"a conversion from {old}",
                value=str(new),
                rule="a conversion must be between two versions of the same group and kind",
            )


class Scheme:
    """The Python class of each kind, and the conversions between the versions of a kind."""

    def __init__(
        self,
        kinds: Iterable[type[Resource]] = (),
        *,
        conversions: Iterable[Conversion[Any, Any]] = (),
    ) -> None:
        self._classes: Mapping[GroupVersionKind, type[Resource]] = _by_kind(kinds)
        self._conversions = tuple(conversions)

    def with_kinds(self, *kinds: type[Resource]) -> "Scheme":
        """Return a scheme that also contains ``kinds``."""
        return Scheme((*self._classes.values(), *kinds), conversions=self._conversions)

    def with_conversions(self, *conversions: Conversion[Any, Any]) -> "Scheme":
        """Return a scheme that also contains ``conversions``."""
        return Scheme(self._classes.values(), conversions=(*self._conversions, *conversions))

    def class_of(self, api_version: str, kind: str) -> type[Resource]:
        """Return the class of a kind; raise ``UnknownKind`` if the scheme does not contain it."""
        gvk = GroupVersionKind.of(api_version, kind)
        found = self._classes.get(gvk) or _builtin(api_version, kind)
        if found is None:
            raise UnknownKind(
                kind=str(gvk),
                missing_from="the scheme",
                what_now="Add its class with Scheme.with_kinds, or use Unstructured.",
            )
        return found

    def knows(self, api_version: str, kind: str) -> bool:
        """Whether the scheme contains a class for the kind."""
        gvk = GroupVersionKind.of(api_version, kind)
        return gvk in self._classes or (api_version, kind) in BUILTIN_KINDS

    def versions_of(self, group: str, kind: str) -> tuple[type[Resource], ...]:
        """Return the classes of all versions of the kind ``kind`` in the API group ``group``."""
        own = [c for gvk, c in self._classes.items() if (gvk.group, gvk.kind) == (group, kind)]
        known = {c.resource_type.gvk.api_version for c in own}
        for api_version, name in BUILTIN_KINDS:
            gvk = GroupVersionKind.of(api_version, name)
            if (gvk.group, gvk.kind) == (group, kind) and api_version not in known:
                own.append(self.class_of(api_version, name))
        return tuple(own)

    def convert(self, obj: Resource, to: type[R]) -> R:
        """Return ``obj`` converted to the class ``to``, with as few conversions as possible."""
        for step in self._path(type(obj), to):
            obj = step(obj)
        if not isinstance(obj, to):
            raise TypeError(
                f"a conversion to {to.__name__} returned an object of {type(obj).__name__}"
            )
        return obj

    def _path(
        self, source: type[Resource], target: type[Resource]
    ) -> tuple[Callable[[Any], Any], ...]:
        reached: dict[type[Resource], tuple[Callable[[Any], Any], ...]] = {source: ()}
        ahead = deque([source])
        while ahead:
            here = ahead.popleft()
            if here is target:
                return reached[here]
            for there, step in self._steps_from(here):
                if there not in reached:
                    reached[there] = (*reached[here], step)
                    ahead.append(there)
        raise NoConversion(
            source=str(source.resource_type.gvk), target=str(target.resource_type.gvk)
        )

    def _steps_from(
        self, here: type[Resource]
    ) -> Iterator[tuple[type[Resource], Callable[[Any], Any]]]:
        for conversion in self._conversions:
            if conversion.older is here:
                yield conversion.newer, conversion.up
            if conversion.newer is here:
                yield conversion.older, conversion.down


def _by_kind(kinds: Iterable[type[Resource]]) -> dict[GroupVersionKind, type[Resource]]:
    classes: dict[GroupVersionKind, type[Resource]] = {}
    for each in kinds:
        gvk = each.resource_type.gvk
        if classes.setdefault(gvk, each) is not each:
            raise BadValue(
                wanted=f"the class for {gvk}",
                value=each.__qualname__,
                rule=f"the scheme already contains {classes[gvk].__qualname__} for it; remove one",
            )
    return classes


def _builtin(api_version: str, kind: str) -> type[Resource] | None:
    place = BUILTIN_KINDS.get((api_version, kind))
    if place is None:
        return None
    found: type[Resource] = getattr(importlib.import_module(f"steersman.kinds.{place}"), kind)
    return found
