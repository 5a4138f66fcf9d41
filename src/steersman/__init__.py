"""steersman: Kubernetes operators in Python.

    apiserver ──bytes──▶ client ──heard──▶ watch ──deltas──▶ cache ──keys──▶ workqueue
        ▲                                                      │                 │
        │                                                  snapshots            key
        │                                                      ▼                 ▼
        └──────bytes────── client ◀──patches── your reconcile ◀──────────── controller

Going in, every package turns one kind of thing into the next, and the name of the thing is on the
arrow. Coming back there is one arrow: a reconciler describes what should be.

Write kinds, then a reconcile function, then a Controller that joins them: see
``examples/appservice``. Each package's docstring says what it promises.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steersman.cache import CacheOptions
    from steersman.client import Client, Trust, connect, find_config
    from steersman.controller import (
        BlockingContext,
        Cached,
        Context,
        Controller,
        Done,
        Every,
        Keys,
        Later,
        Outcome,
        Owns,
        Watch,
        Writes,
        changed,
    )
    from steersman.errors import Permanent
    from steersman.kinds import (
        Cel,
        Column,
        Condition,
        Conversion,
        Crd,
        CustomResource,
        Part,
        Resource,
        Rule,
        ScalePaths,
        Scheme,
        Unstructured,
        is_ready,
        recipes,
        replace,
    )
    from steersman.manager import HealthCheck, Manager, ManagerSettings, Runnable, Services
    from steersman.names import ObjectKey
    from steersman.workqueue import BackoffPolicy, BucketPolicy

__all__ = [
    "BackoffPolicy",
    "BlockingContext",
    "BucketPolicy",
    "CacheOptions",
    "Cached",
    "Cel",
    "Client",
    "Column",
    "Condition",
    "Context",
    "Controller",
    "Conversion",
    "Crd",
    "CustomResource",
    "Done",
    "Every",
    "HealthCheck",
    "Keys",
    "Later",
    "Manager",
    "ManagerSettings",
    "ObjectKey",
    "Outcome",
    "Owns",
    "Part",
    "Permanent",
    "Resource",
    "Rule",
    "Runnable",
    "ScalePaths",
    "Scheme",
    "Services",
    "Trust",
    "Unstructured",
    "Watch",
    "Writes",
    "changed",
    "connect",
    "find_config",
    "is_ready",
    "recipes",
    "replace",
]

# Which door each name is behind. It is opened when the name is first asked for, because a script
# that only declares kinds should not wait for an HTTP library.
_DOORS = {
    "BackoffPolicy": "workqueue",
    "BlockingContext": "controller",
    "BucketPolicy": "workqueue",
    "CacheOptions": "cache",
    "Cached": "controller",
    "Cel": "kinds",
    "Client": "client",
    "Column": "kinds",
    "Condition": "kinds",
    "Context": "controller",
    "Controller": "controller",
    "Conversion": "kinds",
    "Crd": "kinds",
    "CustomResource": "kinds",
    "Done": "controller",
    "Every": "controller",
    "HealthCheck": "manager",
    "Keys": "controller",
    "Later": "controller",
    "Manager": "manager",
    "ManagerSettings": "manager",
    "ObjectKey": "names",
    "Outcome": "controller",
    "Owns": "controller",
    "Part": "kinds",
    "Permanent": "errors",
    "Resource": "kinds",
    "Rule": "kinds",
    "Runnable": "manager",
    "ScalePaths": "kinds",
    "Scheme": "kinds",
    "Services": "manager",
    "Trust": "client",
    "Unstructured": "kinds",
    "Watch": "controller",
    "Writes": "controller",
    "changed": "controller",
    "connect": "client",
    "find_config": "client",
    "is_ready": "kinds",
    "recipes": "kinds",
    "replace": "kinds",
}

# Behind the door are these whole modules, which nobody has to have loaded before.
_MODULES = frozenset({"changed", "recipes"})


if not TYPE_CHECKING:  # to the checkers, a module with this has whatever is asked for

    def __getattr__(name: str) -> object:
        if name not in _DOORS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        door = f"{__name__}.{_DOORS[name]}"
        if name in _MODULES:
            found = import_module(f"{door}.{name}")
        else:
            found = getattr(import_module(door), name)
        globals()[name] = found  # so that nobody has to ask here again
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
