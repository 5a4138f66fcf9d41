"""Predicates: which changes of an object enqueue a reconcile.

A predicate is a function of the old and the new object; the old object is ``None`` if the new one
was just created. Any function with these arguments is a predicate. This module contains some::

    when=changed.any_of(changed.generation, changed.annotations)
    when=changed.fields("spec.replicas", ("metadata", "annotations", "example.com/owner"))

The predicates that ``fields``, ``any_of``, ``all_of`` and ``not_`` return are compared by value:
two predicates from equal arguments are equal.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from steersman.errors import BadValue
from steersman.kinds import Resource, Unstructured
from steersman.kinds.declaration import wire_name

Obj = TypeVar("Obj", bound=Resource | Unstructured)
Object: TypeAlias = Resource | Unstructured

Predicate: TypeAlias = Callable[[Obj | None, Obj], bool]


def generation(old: Object | None, new: Object) -> bool:
    """Return whether ``metadata.generation`` has changed.

    The API server does not increase the generation if only the metadata or the status changes. Some
    built-in kinds, such as Service and ConfigMap, have no generation: for their objects, the result
    is always true.
    """
    return old is None or old.generation != new.generation or not new.generation


def labels(old: Object | None, new: Object) -> bool:
    """Return whether the labels have changed."""
    return old is None or old.labels != new.labels


def annotations(old: Object | None, new: Object) -> bool:
    """Return whether the annotations have changed."""
    return old is None or old.annotations != new.annotations


def resource_version(old: Object | None, new: Object) -> bool:
    """Return whether the resourceVersion has changed, that is, whether any field has changed."""
    return old is None or old.resource_version != new.resource_version


def fields(*paths: str | tuple[str, ...]) -> "Predicate[Object]":
    """Return a predicate that is true if the value at one of ``paths`` has changed.

    A path consists of field names, as in Python or as in JSON, joined by dots:
    ``"status.readyReplicas"``. If a name contains a dot, write the path as a tuple: ``("metadata",
    "labels", "example.com/tier")``. A number in a path is an index in a list.
    """
    return _Fields(tuple(_steps(path) for path in _at_least_one(paths, "one path")))


def any_of(*predicates: Predicate[Obj]) -> "Predicate[Obj]":
    """Return a predicate that is true if at least one of ``predicates`` is true."""
    return _AnyOf(_functions(predicates))


def all_of(*predicates: Predicate[Obj]) -> "Predicate[Obj]":
    """Return a predicate that is true if all of ``predicates`` are true."""
    return _AllOf(_functions(predicates))


def not_(predicate: Predicate[Obj]) -> "Predicate[Obj]":
    """Return a predicate that is true if ``predicate`` is false, or if the object is new.

    No predicate here excludes the creation of an object, so ``not_(changed.labels)`` is true for a
    new object.
    """
    return _Not(*_functions((predicate,)))


class _Fields(msgspec.Struct, frozen=True):
    paths: tuple[tuple[str, ...], ...]

    def __call__(self, old: Object | None, new: Object) -> bool:
        return old is None or any(_at(old, path) != _at(new, path) for path in self.paths)

    def __repr__(self) -> str:
        shown = [repr(path if _has_dot(path) else ".".join(path)) for path in self.paths]
        return f"fields({', '.join(shown)})"


class _AnyOf(msgspec.Struct, frozen=True):
    predicates: tuple[Callable[[Any, Any], bool], ...]

    def __call__(self, old: Any, new: Any) -> bool:
        return any(predicate(old, new) for predicate in self.predicates)

    def __repr__(self) -> str:
        return f"any_of({', '.join(map(_name_of, self.predicates))})"


class _AllOf(msgspec.Struct, frozen=True):
    predicates: tuple[Callable[[Any, Any], bool], ...]

    def __call__(self, old: Any, new: Any) -> bool:
        return all(predicate(old, new) for predicate in self.predicates)

    def __repr__(self) -> str:
        return f"all_of({', '.join(map(_name_of, self.predicates))})"


class _Not(msgspec.Struct, frozen=True):
    predicate: Callable[[Any, Any], bool]

    def __call__(self, old: Any, new: Any) -> bool:
        if old is None:
            return _is_not_for_new(self.predicate, new)
        return not self.predicate(old, new)

    def __repr__(self) -> str:
        return f"not_({_name_of(self.predicate)})"


# The results of the functions in this module; their repr describes them.
BuiltPredicate: TypeAlias = _Fields | _AnyOf | _AllOf | _Not

_CHANGES = (generation, labels, annotations, resource_version)


def _is_not_for_new(predicate: Callable[[Any, Any], bool], new: Object) -> bool:
    """Return the result of ``not_(predicate)`` for a new object."""
    # The predicates of this module pass a new object, and their negation must not exclude it. The
    # result of an author's function is not changed.
    match predicate:
        case _AnyOf(predicates=inside):
            return all(_is_not_for_new(each, new) for each in inside)
        case _AllOf(predicates=inside):
            return any(_is_not_for_new(each, new) for each in inside)
        case _Not(predicate=inside):
            return inside(None, new)
        case _:
            return (
                isinstance(predicate, _Fields) or predicate in _CHANGES or not predicate(None, new)
            )


def _at_least_one(given: tuple[Any, ...], what: str) -> tuple[Any, ...]:
    if not given:
        raise BadValue(wanted="a predicate", value=given, rule=f"pass at least {what}")
    return given


def _functions(given: tuple[Any, ...]) -> tuple[Callable[[Any, Any], bool], ...]:
    for each in _at_least_one(given, "one predicate"):
        if not callable(each):
            raise BadValue(
                wanted="a predicate",
                value=each,
                rule="it must be a function of the old and the new object, like changed.generation",
            )
    return given


def _steps(path: object) -> tuple[str, ...]:
    steps = tuple(path.split(".")) if isinstance(path, str) else path
    if (
        not isinstance(steps, tuple)
        or not steps
        or not all(isinstance(s, str) and s for s in steps)
    ):
        raise BadValue(
            wanted="a path to a field",
            value=path,
            rule='it must be a string like "spec.replicas", or a tuple of strings, without empty'
            " steps",
        )
    return steps


def _at(obj: Object, path: tuple[str, ...]) -> Any:
    """Return the value at the path, or ``None``."""
    value: Any = obj.body if isinstance(obj, Unstructured) else obj
    for step in path:
        if isinstance(value, Struct):
            value = getattr(value, _attribute(type(value), step))
        elif isinstance(value, Mapping):
            found = value.get(step)
            value = value.get(wire_name(step)) if found is None and "_" in step else found
        elif isinstance(value, Sequence) and not isinstance(value, str) and step.isdecimal():
            value = value[int(step)] if int(step) < len(value) else None
        else:
            return None
    return value


@cache
def _attribute(part: type[Struct], step: str) -> str:
    names = part.__struct_fields__
    if step in names:
        return step
    wire = part.__struct_encode_fields__
    if step in wire:
        return names[wire.index(step)]
    raise BadValue(
        wanted=f"a field of {part.__name__}", value=step, rule=f"the fields are {', '.join(names)}"
    )


def _has_dot(path: tuple[str, ...]) -> bool:
    return any("." in step for step in path)


def _name_of(predicate: Callable[..., bool]) -> str:
    return getattr(predicate, "__qualname__", repr(predicate))
