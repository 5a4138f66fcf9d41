"""Which fields a manager holds, read from ``fieldsV1``, and whether they are as they were applied.

``fieldsV1`` is a tree: ``f:name`` is a field, ``k:{…}`` the item of a list that has these keys,
``v:…`` a value in a set, and ``.`` the thing itself beside what is in it. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final, TypeAlias

import msgspec

Fields: TypeAlias = Mapping[str, Any]
Path: TypeAlias = tuple[str, ...]

_ITSELF: Final = "."
_NONE: Final = object()

# Longer ones are cut: they are for people to read.
MOST_PATHS: Final = 10


def fields_in(fields: msgspec.Raw | Fields | None) -> Fields:
    """The tree, decoded where it is kept as it came."""
    if fields is None:
        return {}
    decoded: Fields = msgspec.json.decode(fields) if isinstance(fields, msgspec.Raw) else fields
    return decoded


def paths_in(fields: Fields) -> Iterator[Path]:
    """All that is held, by its path of steps as they stand in the tree."""
    for step, below in fields.items():
        if step == _ITSELF:
            yield ()
        elif not below:
            yield (step,)
        else:
            for path in paths_in(below):
                yield (step, *path)


def holds(fields: Fields, path: Path) -> bool:
    """Whether the path, or something above it that is held whole, is in the tree."""
    here: Any = fields
    for step in path:
        if step not in here:
            return False
        here = here[step]
        if not here:
            return True
    return True


def lost(before: Fields, now: Fields) -> tuple[Path, ...]:
    """What was held before and is not any more; of an item that was lost, only the item."""
    held = set(paths_in(now))
    gone = {path for path in paths_in(before) if path not in held}
    return tuple(p for p in paths_in(before) if p in gone and not _is_below_another(p, gone))


def _is_below_another(path: Path, others: set[Path]) -> bool:
    return any(path[:length] in others for length in range(1, len(path)))


def shown(paths: Iterable[Path]) -> tuple[str, ...]:
    """Paths as people write them: ``spec.template.spec.containers[name=web].image``."""
    texts = tuple(dict.fromkeys(_shown(path) for path in paths))
    return texts[:MOST_PATHS]


def _shown(path: Path) -> str:
    text = ""
    for step in path:
        kind, _, rest = step.partition(":")
        if kind == "f":
            plain = rest.replace("-", "").replace("_", "").isalnum()
            text += f".{rest}" if plain else f"[{rest}]"
        elif kind == "k":
            keys = msgspec.json.decode(rest)
            text += f"[{','.join(f'{key}={value}' for key, value in keys.items())}]"
        else:
            text += f"[{rest}]"
    return text.removeprefix(".")


def differing(fields: Fields, live: Any, body: Any) -> Iterator[Path]:
    """What is held and has another value, or place in its list, than the body gives it.

    Where that cannot be told, because the server writes a value in another way than we do, it is
    named: one apply too many does no harm.
    """
    places: list[tuple[int, int]] = []
    for step, below in fields.items():
        if step == _ITSELF:
            continue
        kind, _, rest = step.partition(":")
        if kind == "f":
            one, other = _field(live, rest), _field(body, rest)
        elif kind == "k":
            keys = msgspec.json.decode(rest)
            there, here = _place(live, keys), _place(body, keys)
            if there >= 0 and here >= 0:
                places.append((here, there))
            one = live[there] if there >= 0 else _NONE
            other = body[here] if here >= 0 else _NONE
        else:
            value = msgspec.json.decode(rest)
            one, other = (value if _has(each, value) else _NONE for each in (live, body))
        if one is _NONE or other is _NONE:
            yield (step,)
        elif below:
            for path in differing(below, one, other):
                yield (step, *path)
        elif one != other:
            yield (step,)
    # Who changes the order of a list changes no field of it, and an apply puts it right.
    places.sort()
    if any(one[1] > other[1] for one, other in pairwise(places)):
        yield ()


def unheld(fields: Fields, body: Any) -> Iterator[Path]:
    """What the body says and is not held. Where that cannot be told it is named, as above."""
    for step, value in _steps(fields, body):
        below = fields.get(step)
        if below is None:
            yield (step,)
        elif below:
            for path in unheld(below, value):
                yield (step, *path)


def only_held(fields: Fields, value: Any) -> Any:
    """What of a value is held: all of it, where it is held whole."""
    if fields and isinstance(value, dict):
        steps = ((name, f"f:{name}") for name in value)
        return {
            name: only_held(fields[step], value[name]) for name, step in steps if step in fields
        }
    if fields and isinstance(value, list):
        items = ((_item_step(fields, item), item) for item in value)
        return [only_held(fields[step], item) for step, item in items if step in fields]
    return value


def stated(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a body says of its object beside which one it is, which nobody holds."""
    said = {name: value for name, value in body.items() if name not in ("apiVersion", "kind")}
    metadata = said.pop("metadata", None) or {}
    of_it = {name: value for name, value in metadata.items() if name not in ("name", "namespace")}
    return {**said, "metadata": of_it} if of_it else said


def _steps(fields: Fields, body: Any) -> Iterator[tuple[str, Any]]:
    """What is in the body, each with the step that leads to it."""
    if isinstance(body, dict):
        for name, value in body.items():
            yield f"f:{name}", value
    elif isinstance(body, list):
        for item in body:
            yield _item_step(fields, item), item
    else:
        yield "?", body  # Something else is held than what is there now.


def _item_step(fields: Fields, item: Any) -> str:
    """The one step to an item of a list; one that is not there, if there are none or several."""
    found: list[str] = []
    for step in fields:
        kind, _, rest = step.partition(":")
        if kind == "k":
            keys = msgspec.json.decode(rest)
            if _place([item], keys) == 0:
                found.append(step)
        elif kind == "v" and msgspec.json.decode(rest) == item:
            return step
    return found[0] if len(found) == 1 else "?"


def _field(value: Any, name: str) -> Any:
    return value.get(name, _NONE) if isinstance(value, dict) else _NONE


def _has(values: Any, value: Any) -> bool:
    return isinstance(values, list) and value in values


def _place(items: Any, keys: Mapping[str, Any]) -> int:
    """Where the only item with these keys is, or -1; a key that it lacks is one with a default."""
    found = [
        index
        for index, item in enumerate(items if isinstance(items, list) else ())
        if isinstance(item, dict) and all(item.get(key, keys[key]) == keys[key] for key in keys)
    ]
    return found[0] if len(found) == 1 else -1
