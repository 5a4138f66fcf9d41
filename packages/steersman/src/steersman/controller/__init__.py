"""From a reconcile function to a control loop over a work queue.

Takes:     a ``Controller``: a kind, a reconcile function, and the kinds that it reads and writes
Gives:     a ``ControlLoop`` that calls the function after each change that concerns its object
Promises:  - one worker at a time reconciles an object
           - a failure of one object never delays another
           - a change during a reconcile leads to another reconcile
           - only what is declared can be read or written
           - an apply that would change nothing sends nothing
           - an object that another owner controls is left alone
           - the finalizer is added before the first side effect and removed after the last
           - each reconcile knows why it ran
           - the condition of an object says why its reconcile failed
           - progress is written at intervals and a condition transition immediately
           - a function that is not async does not block the event loop
           - hanging objects do not delay the rest
           - a replica that is not the leader starts and continues no reconcile
           - a paused object is not reconciled
           - no state about a deleted object is stored
Never:     acts on import, retries a reconcile that has not failed, or takes a field by force from
           another manager, except on objects that its own object controls
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names
from steersman.controller.cache_reader import CacheReader
from steersman.controller.controller import Controller
from steersman.controller.declaration.functions import is_async
from steersman.controller.declaration.outcomes import Done, Later, Outcome
from steersman.controller.declaration.watches import Owns, Watch
from steersman.controller.declaration.writes import Kind, Writes, as_writes, check_is_kind

if TYPE_CHECKING:
    from steersman.controller import changed
    from steersman.controller.context.blocking_context import BlockingContext, BlockingLiveReader
    from steersman.controller.context.context import Context, LiveReader, token_text
    from steersman.controller.context.lifespan import NO_LIFESPAN, lifespan_value
    from steersman.controller.declaration.sources import Every, Keys, Source
    from steersman.controller.events.recorder import EventRecorder
    from steersman.controller.leadership import IsLeader, run_while_leader, wait_until_leader
    from steersman.controller.loop.control_loop import ControlLoop
    from steersman.controller.loop.synced_controller import SyncedController, synced_controller
    from steersman.controller.ownership.owner_references import (
        controller_of,
        owned_by,
        owner_reference,
    )
    from steersman.controller.pause import PAUSED, is_paused
    from steersman.controller.rbac import (
        RbacRule,
        permissions,
        policy_rules,
        rules_by_namespace,
        rules_yaml,
    )
    from steersman.controller.status import status_to_apply
    from steersman.controller.threads import ThreadPolicy, ThreadPool, start_thread

__all__ = [
    "NO_LIFESPAN",
    "PAUSED",
    "BlockingContext",
    "BlockingLiveReader",
    "CacheReader",
    "Context",
    "ControlLoop",
    "Controller",
    "Done",
    "EventRecorder",
    "Every",
    "IsLeader",
    "Keys",
    "Kind",
    "Later",
    "LiveReader",
    "Outcome",
    "Owns",
    "RbacRule",
    "Source",
    "SyncedController",
    "ThreadPolicy",
    "ThreadPool",
    "Watch",
    "Writes",
    "as_writes",
    "changed",
    "check_is_kind",
    "controller_of",
    "is_async",
    "is_paused",
    "lifespan_value",
    "owned_by",
    "owner_reference",
    "permissions",
    "policy_rules",
    "rules_by_namespace",
    "rules_yaml",
    "run_while_leader",
    "start_thread",
    "status_to_apply",
    "synced_controller",
    "token_text",
    "wait_until_leader",
]

# Loaded lazily: declaring a controller does not need the code that runs it.
_LAZY = {
    "PAUSED": "pause",
    "BlockingContext": "context.blocking_context",
    "BlockingLiveReader": "context.blocking_context",
    "Context": "context.context",
    "token_text": "context.context",
    "ControlLoop": "loop.control_loop",
    "Every": "declaration.sources",
    "Keys": "declaration.sources",
    "IsLeader": "leadership",
    "NO_LIFESPAN": "context.lifespan",
    "LiveReader": "context.context",
    "SyncedController": "loop.synced_controller",
    "EventRecorder": "events.recorder",
    "RbacRule": "rbac",
    "Source": "declaration.sources",
    "ThreadPolicy": "threads",
    "ThreadPool": "threads",
    "start_thread": "threads",
    "policy_rules": "rbac",
    "rules_by_namespace": "rbac",
    "controller_of": "ownership.owner_references",
    "is_paused": "pause",
    "owned_by": "ownership.owner_references",
    "owner_reference": "ownership.owner_references",
    "permissions": "rbac",
    "synced_controller": "loop.synced_controller",
    "rules_yaml": "rbac",
    "status_to_apply": "status",
    "lifespan_value": "context.lifespan",
    "wait_until_leader": "leadership",
    "run_while_leader": "leadership",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY, modules={"changed": "changed"})
