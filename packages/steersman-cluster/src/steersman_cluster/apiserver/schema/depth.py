"""The maximum nesting of JSON. No I/O."""

from typing import Any, Final

# Later requests process stored objects recursively, and the Python stack is limited. kube-apiserver
# accepts fifty times this depth.
MAX_DEPTH: Final = 200

#: Go's error for JSON that is nested too deeply.
EXCEEDED: Final = "exceeded max depth"


def is_deep(value: Any, *, max_depth: int = MAX_DEPTH) -> bool:
    """Return whether the maps and lists in ``value`` are nested ``max_depth`` levels or more.

    The traversal is level by level, because a recursive traversal would itself fail on a value that
    is too deep.
    """
    level: list[Any] = [value] if value.__class__ is dict or value.__class__ is list else []
    for _ in range(max_depth):
        level = [
            child
            for each in level
            for child in (each.values() if each.__class__ is dict else each)
            if child.__class__ is dict or child.__class__ is list
        ]
        if not level:
            return False
    return True
