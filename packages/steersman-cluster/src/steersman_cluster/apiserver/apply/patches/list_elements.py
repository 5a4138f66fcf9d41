"""The elements of a merged list: which elements are the same, and how they are sorted."""

from collections import deque
from typing import Any

from steersman_cluster.apiserver.apply.patches.patch_errors import failed, unprocessable
from steersman_cluster.apiserver.meta.go_messages import go_text, go_type


class ElementKey:
    """The key that identifies a list element: the value of one field, or the element itself."""

    def __init__(self, name: str | None) -> None:
        self._name = name

    def __call__(self, element: Any) -> tuple[type, Any]:
        # The type is part of the key: in Python, true, 1 and 1.0 are equal.
        name, value = self._name, element
        if name is not None:
            if element.__class__ is not dict:
                kind = go_type(element)
                raise failed(f"expected a map[string]interface {{}}, but received a {kind}")
            if name not in element:
                raise failed(f"map: {go_text(element)} does not contain declared merge key: {name}")
            value = element[name]
        if value.__class__ is dict or value.__class__ is list:
            raise failed(f"runtime error: comparing uncomparable type {go_type(value)}")
        return value.__class__, value


def element_type(*lists: list[Any]) -> type:
    """Return the type that all elements of ``lists`` share; raise an error if types differ."""
    elements = [element for each in lists for element in each]
    types = {type(element) for element in elements}
    if list in types and isinstance(elements[0], list):
        raise unprocessable()
    if not types:
        raise failed("no elements in any of the given slices")
    if len(types) > 1 or elements[0] is None:
        raise failed(f"list element types are not identical: {go_text(list(lists))}")
    return types.pop()


def in_wanted_order(
    elements: list[Any], *, wanted: list[Any], existing: list[Any], key_of: ElementKey
) -> list[Any]:
    """Return ``elements`` sorted by ``wanted``, a list in the patch, and ``existing``.

    ``existing`` is the list in the object. Elements in ``wanted`` follow its sequence; the others
    stay where they are in ``existing``. If the two sequences contradict each other, ``wanted``
    takes precedence.
    """
    wanted_places = _places(wanted, key_of)
    existing_places = _places(existing, key_of)
    ours: list[tuple[int, Any]] = []
    others: list[tuple[int, Any]] = []
    for element in elements:
        key = key_of(element)
        if key in wanted_places:
            ours.append((wanted_places[key], element))
        else:
            others.append((existing_places.get(key, len(existing)), element))
    ours.sort(key=_place)
    waiting = deque(sorted(others, key=_place))
    ordered: list[Any] = []
    for _, element in ours:
        before = existing_places.get(key_of(element), -1)
        while waiting and waiting[0][0] < before:
            ordered.append(waiting.popleft()[1])
        ordered.append(element)
    return [*ordered, *(element for _, element in waiting)]


def _place(placed: tuple[int, Any]) -> int:
    return placed[0]


def _places(elements: list[Any], key_of: ElementKey) -> dict[Any, int]:
    places: dict[Any, int] = {}
    for place, element in enumerate(elements):
        places.setdefault(key_of(element), place)
    return places
