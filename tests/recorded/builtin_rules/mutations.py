"""Objects with one field removed or replaced by an odd value."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final, TypeAlias

from tests.recorded.builtin_rules.cases import Object

Path: TypeAlias = tuple[str | int, ...]

# A change of these fields addresses another object, or has no effect.
_LEFT_ALONE: Final = frozenset(("apiVersion", "kind", "metadata"))
_ODD_TEXTS: Final = ("", "Odd Value!", "-x", "x" * 300, "a/b")
_ODD_NUMBERS: Final = (0, -1, 65536, 2**31 - 1)
_ODD_AMOUNTS: Final = ("0", "-1", "1500m", "12Gi")


def mutations(obj: Object, *, part: str = "") -> Iterator[tuple[str, Object]]:
    """Each change of one field of ``obj``, or of a part of it, with the resulting object."""
    for path, value in _places(obj):
        if path[0] in _LEFT_ALONE or (part and path[0] != part):
            continue
        yield f"without {shown(path)}", _changed(obj, path, _GONE)
        for other in _instead_of(value):
            says = f"{str(other)[:40]!r} at {shown(path)}"
            yield says, _changed(obj, path, other)


def shown(path: Path) -> str:
    """The path as text."""
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path)[1:]


class _Gone:
    pass


_GONE: Final = _Gone()


def _places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _places(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _places(each, (*path, index))


def _instead_of(value: Any) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int():
            yield from (each for each in _ODD_NUMBERS if each != value)
        case str():
            texts = (*_ODD_TEXTS, *_ODD_AMOUNTS) if value[:1].isdecimal() else _ODD_TEXTS
            yield from (each for each in texts if each != value)
        case list():
            yield []
            if value:
                yield [*value, deepcopy(value[0])]
        case dict():
            yield {}
            if value and all(isinstance(each, str) for each in value.values()):
                yield {**value, "Odd Key!": next(iter(value.values()))}
        case _:
            pass


def _changed(obj: Object, path: Path, value: Any) -> Object:
    changed = deepcopy(obj)
    inner: Any = changed
    for each in path[:-1]:
        inner = inner[each]
    if isinstance(value, _Gone):
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return changed
