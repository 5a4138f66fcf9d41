"""steersman: Kubernetes operators in Python.

    apiserver ──bytes──▶ client ──heard──▶ watch ──deltas──▶ cache ──keys──▶ workqueue
        ▲                                                      │                 │
        │                                                  snapshots            key
        │                                                      ▼                 ▼
        └──────bytes────── client ◀──patches── your reconcile ◀──────────── controller

Going in, every package turns one kind of thing into the next, and the name of the thing is on the
arrow. Coming back there is one arrow: a reconciler describes what should be. Each package's
docstring says what it promises.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steersman.client import Client, connect, find_config
    from steersman.kinds import (
        Condition,
        Conversion,
        CustomResource,
        Part,
        Resource,
        Rule,
        Scheme,
        Unstructured,
        replace,
    )

__all__ = [
    "Client",
    "Condition",
    "Conversion",
    "CustomResource",
    "Part",
    "Resource",
    "Rule",
    "Scheme",
    "Unstructured",
    "connect",
    "find_config",
    "replace",
]

# Which door each name is behind. It is opened when the name is first asked for, because a script
# that only declares kinds should not wait for an HTTP library.
_DOORS = {
    "Client": "client",
    "Condition": "kinds",
    "Conversion": "kinds",
    "CustomResource": "kinds",
    "Part": "kinds",
    "Resource": "kinds",
    "Rule": "kinds",
    "Scheme": "kinds",
    "Unstructured": "kinds",
    "connect": "client",
    "find_config": "client",
    "replace": "kinds",
}


if not TYPE_CHECKING:  # to the checkers, a module with this has whatever is asked for

    def __getattr__(name: str) -> object:
        if name not in _DOORS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(f"{__name__}.{_DOORS[name]}"), name)
        globals()[name] = found  # so that nobody has to ask here again
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
