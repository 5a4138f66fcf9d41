"""Which fields a manager holds, read from ``fieldsV1``, and whether they are as they were applied.

``fieldsV1`` is a tree: ``f:name`` is a field, ``k:{…}`` the item of a list that has these keys,
``v:…`` a value in a set, and ``.`` the thing itself beside what is in it. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

import msgspec

from steersman.units import same_booleans, same_json

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
        elif not same_json(one, other):
            yield (step,)
    places.sort()
    if not _are_in_order(places):
        yield ()


def is_just_so(fields: Fields, live: Any, body: Any) -> bool:
    """Whether a body says what is held, no more and no less, and all of it is as it says.

    Nothing differs then, as above; and where that cannot be told, it is not so. An operator that
    starts asks this of everything there is, so it is one walk that stops where the answer is no.
    """
    if isinstance(body, dict):
        return _is_object_so(fields, live, body)
    return isinstance(body, list) and _is_list_so(fields, live, body)


def _is_object_so(fields: Fields, live: Any, body: Mapping[str, Any]) -> bool:
    there = live if isinstance(live, dict) else {}
    try:
        for name, value in body.items():
            below, one = fields["f:" + name], there[name]
            if below:
                if not is_just_so(below, one, value):
                    return False
            # Most values are text or numbers, for which Python's own comparison is enough.
            elif one != value or not (
                value.__class__ is str
                or (value.__class__ is int and one.__class__ is int)
                or same_booleans(one, value)
            ):
                return False
    except KeyError:
        return False
    return len(body) == len(fields) - (_ITSELF in fields)


def _is_list_so(fields: Fields, live: Any, body: list[Any]) -> bool:
    places: list[tuple[int, int]] = []
    values: list[Any] = []
    for step, below in fields.items():
        if step == _ITSELF:
            continue
        kind, _, rest = step.partition(":")
        if kind == "k":
            keys = msgspec.json.decode(rest)
            there, here = _place(live, keys), _place(body, keys)
            if there < 0 or here < 0 or not _is_value_so(below, live[there], body[here]):
                return False
            places.append((here, there))
        elif kind == "v":
            value = msgspec.json.decode(rest)
            if below or not (_has(live, value) and _has(body, value)):
                return False
            values.append(value)
        else:
            return False
    places.sort()
    items = {here for here, _ in places}
    return (
        len(items) == len(places)
        and all(index in items or item in values for index, item in enumerate(body))
        and _are_in_order(places)
    )


def _is_value_so(fields: Fields, one: Any, other: Any) -> bool:
    return is_just_so(fields, one, other) if fields else same_json(one, other)


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
    if not isinstance(values, list) or value not in values:
        return False
    return isinstance(value, str) or any(same_json(each, value) for each in values)


def _place(items: Any, keys: Mapping[str, Any]) -> int:
    """Where the only item with these keys is, or -1; a key that it lacks is one with a default."""
    found = -1
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict) and _has_keys(item, keys):
            if found >= 0:
                return -1
            found = index
    return found


def _has_keys(item: Mapping[str, Any], keys: Mapping[str, Any]) -> bool:
    # A loop, which takes half the time of what ``all`` takes.
    for key, value in keys.items():  # noqa: SIM110
        if item.get(key, value) != value:
            return False
    return True


def _are_in_order(places: Sequence[tuple[int, int]]) -> bool:
    """Whether items, by their places in one list, are in the same order in the other.

    Who changes the order of a list changes no field of it, and an apply puts it right. The values
    of a set have none, and wherever they stand is right.
    """
    return all(one[1] <= other[1] for one, other in pairwise(places))
