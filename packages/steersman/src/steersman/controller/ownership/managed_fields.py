"""The fields that a manager owns by its ``fieldsV1``, and a comparison of their values. No I/O.

``fieldsV1`` is a tree: ``f:name`` is a field, ``k:{…}`` the item of a list with these keys, ``v:…``
a value in a set, and ``.`` the field or item itself, in addition to its content.
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

# Longer lists are truncated, because they are for people to read.
MAX_PATHS: Final = 10


def fields_in(fields: msgspec.Raw | Fields | None) -> Fields:
    """Return ``fields``, the content of a ``fieldsV1``, as a tree.

    Raw JSON is decoded, and ``None`` results in an empty tree.
    """
    if fields is None:
        return {}
    decoded: Fields = msgspec.json.decode(fields) if isinstance(fields, msgspec.Raw) else fields
    return decoded


def paths_in(fields: Fields) -> Iterator[Path]:
    """Yield the path of each field in a ``FieldsV1`` tree, as a tuple of the tree's keys."""
    for step, below in fields.items():
        if step == _ITSELF:
            yield ()
        elif not below:
            yield (step,)
        else:
            for path in paths_in(below):
                yield (step, *path)


def holds(fields: Fields, path: Path) -> bool:
    """Return whether the tree ``fields`` contains ``path``, or a leaf above ``path``."""
    here: Any = fields
    for step in path:
        if step not in here:
            return False
        here = here[step]
        if not here:
            return True
    return True


def lost_paths(before: Fields, now: Fields) -> tuple[Path, ...]:
    """Return the paths that the tree ``before`` contains and the tree ``now`` does not.

    If ``now`` contains nothing of an item of a list, the result contains one path for the complete
    item.
    """
    held = set(paths_in(now))
    gone = {path for path in paths_in(before) if path not in held}
    return tuple(p for p in paths_in(before) if p in gone and not _is_below(p, gone))


def _is_below(path: Path, others: set[Path]) -> bool:
    return any(path[:length] in others for length in range(1, len(path)))


def readable_paths(paths: Iterable[Path]) -> tuple[str, ...]:
    """Return ``paths`` in readable form: ``spec.template.spec.containers[name=web].image``."""
    texts = tuple(dict.fromkeys(_readable_path(path) for path in paths))
    return texts[:MAX_PATHS]


def _readable_path(path: Path) -> str:
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


def differing_paths(fields: Fields, live: Any, body: Any) -> Iterator[Path]:
    """Yield each path in ``fields`` where ``live`` and ``body`` differ in value or index.

    The index is the position in a list. Values that cannot be compared, because the API server
    writes a value in another form, count as different: one unnecessary apply does no harm.
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
            for path in differing_paths(below, one, other):
                yield (step, *path)
        elif not same_json(one, other):
            yield (step,)
    places.sort()
    if not _are_in_order(places):
        yield ()


def matches_exactly(fields: Fields, live: Any, body: Any) -> bool:
    """Return whether ``body`` has exactly the fields in ``fields``, with the same values as
    ``live``.

    Values that cannot be compared count as different, as in ``differing_paths``. An operator calls
    this for every object at startup, so the comparison is one walk that stops at the first
    difference.
    """
    if isinstance(body, dict):
        return _matches_object(fields, live, body)
    return isinstance(body, list) and _matches_list(fields, live, body)


def _matches_object(fields: Fields, live: Any, body: Mapping[str, Any]) -> bool:
    there = live if isinstance(live, dict) else {}
    try:
        for name, value in body.items():
            below, one = fields["f:" + name], there[name]
            if below:
                if not matches_exactly(below, one, value):
                    return False
            # Most values are strings or numbers, which Python's own comparison handles.
            elif one != value or not (
                value.__class__ is str
                or (value.__class__ is int and one.__class__ is int)
                or same_booleans(one, value)
            ):
                return False
    except KeyError:
        return False
    return len(body) == len(fields) - (_ITSELF in fields)


def _matches_list(fields: Fields, live: Any, body: list[Any]) -> bool:
    places: list[tuple[int, int]] = []
    values: list[Any] = []
    for step, below in fields.items():
        if step == _ITSELF:
            continue
        kind, _, rest = step.partition(":")
        if kind == "k":
            keys = msgspec.json.decode(rest)
            there, here = _place(live, keys), _place(body, keys)
            if there < 0 or here < 0 or not _matches_value(below, live[there], body[here]):
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


def _matches_value(fields: Fields, one: Any, other: Any) -> bool:
    return matches_exactly(fields, one, other) if fields else same_json(one, other)


def held_part(fields: Fields, value: Any) -> Any:
    """Return the part of ``value`` whose fields are in ``fields``.

    If ``fields`` is a leaf, return ``value`` completely.
    """
    if fields and isinstance(value, dict):
        steps = ((name, f"f:{name}") for name in value)
        return {
            name: held_part(fields[step], value[name]) for name, step in steps if step in fields
        }
    if fields and isinstance(value, list):
        items = ((_item_step(fields, item), item) for item in value)
        return [held_part(fields[step], item) for step, item in items if step in fields]
    return value


def body_fields(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return ``body`` without apiVersion, kind, name and namespace, which no field manager owns."""
    content = {name: value for name, value in body.items() if name not in ("apiVersion", "kind")}
    metadata = content.pop("metadata", None) or {}
    rest = {name: value for name, value in metadata.items() if name not in ("name", "namespace")}
    return {**content, "metadata": rest} if rest else content


def _item_step(fields: Fields, item: Any) -> str:
    """Return the only step in ``fields`` that matches ``item``.

    If no step or more than one step matches, return a step that never exists.
    """
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
    """Return the index of the only item with these keys, or -1.

    A missing key counts as its default.
    """
    found = -1
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict) and _has_keys(item, keys):
            if found >= 0:
                return -1
            found = index
    return found


def _has_keys(item: Mapping[str, Any], keys: Mapping[str, Any]) -> bool:
    # A loop takes half the time of ``all``.
    for key, value in keys.items():  # noqa: SIM110
        if item.get(key, value) != value:
            return False
    return True


def _are_in_order(places: Sequence[tuple[int, int]]) -> bool:
    """Return whether the items of one list are in the same order in the other list.

    ``places`` contains the indexes of each item in both lists. The order is compared separately,
    because a change of order changes no field, and only an apply corrects it.
    """
    return all(one[1] <= other[1] for one, other in pairwise(places))
