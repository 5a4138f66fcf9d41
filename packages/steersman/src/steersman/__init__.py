"""steersman: Kubernetes operators in Python.

    apiserver ──bytes──▶ client ──events─▶ watch ──deltas──▶ cache ──keys──▶ workqueue
        ▲                                                      │                 │
        │                                                  snapshots            key
        │                                                      ▼                 ▼
        └──────bytes────── client ◀──patches── your reconcile ◀──────────── controller

Each name is a package, and each arrow shows what one package passes to the next. A reconcile
function describes the desired state, and the client sends the desired state to the API server as
patches.

Write kinds, then a reconcile function, then a Controller that joins them: see
``examples/appservice``. Each package's docstring lists the package's promises.
"""

import sys

# pip refuses an older Python. A directory that is only on the path is not checked, and the syntax
# errors of other modules would not give the reason.
if sys.version_info < (3, 11):  # noqa: UP036
    raise ImportError(
        "steersman needs Python 3.11 or newer, and this is Python "
        + ".".join(map(str, sys.version_info[:3]))
        + "; create the virtual environment with a newer Python"
    )

from steersman._lazy import lazy_names

# Type checkers treat a variable with this name as true. It is not imported from typing, because
# loading typing takes four fifths of the time of this import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from steersman.cache import CacheOptions
    from steersman.client import Client, Trust, connect, find_config
    from steersman.controller import (
        BlockingContext,
        CacheReader,
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
    "CacheReader",
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

# The package of each name. It is loaded when the name is first used, because a script that only
# declares kinds should not wait for an HTTP library.
_LAZY = {
    "BackoffPolicy": "workqueue",
    "BlockingContext": "controller",
    "BucketPolicy": "workqueue",
    "CacheOptions": "cache",
    "CacheReader": "controller",
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
    "connect": "client",
    "find_config": "client",
    "is_ready": "kinds",
    "replace": "kinds",
}

# Whole modules that are public.
_LAZY_MODULES = {"changed": "controller.changed", "recipes": "kinds.recipes"}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY, modules=_LAZY_MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
