"""Keys in, your function, outcomes out: what turns a reconcile function into a controller.

Takes:     a ``Controller``: a kind, a function, and what that function touches
Gives:     a ``ControlLoop`` that calls the function whenever something changes that matters to it
Promises:  - an object is with one worker at a time
           - what goes wrong with one object never delays another
           - a change while an object is looked at leads to another look
           - only what is declared can be read or written
           - an apply that would change nothing sends nothing
           - what a stranger controls is left alone
           - the finalizer is there before the first side effect and goes after the last
           - each reconcile knows why it ran
           - an object whose reconcile fails says why in its condition
           - progress is told once in a while, and what flips a condition at once
           - a plain function blocks nobody but itself
           - objects that hang do not hold up the rest
           - a replica that no longer leads begins and continues no reconcile
           - what is paused is left alone
           - nothing is kept of an object that is gone
Never:     acts on import, retries on behalf of a function that has not failed, or takes a field by
           force from a stranger
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names
from steersman.controller.cache_reader import Cached
from steersman.controller.controller import Controller
from steersman.controller.declaration.functions import is_async
from steersman.controller.declaration.outcomes import Done, Later, Outcome
from steersman.controller.declaration.watches import Owns, Watch
from steersman.controller.declaration.writes import Kind, Writes, as_writes, check_is_kind
from steersman.errors import Permanent

if TYPE_CHECKING:
    from steersman.controller import changed
    from steersman.controller.context.blocking_context import BlockingContext, BlockingLive
    from steersman.controller.context.context import Context, Live, token_text
    from steersman.controller.context.lifespan import NO_LIFESPAN, lifespan_value
    from steersman.controller.declaration.sources import Every, Keys, Source
    from steersman.controller.events.recorder import Recorder
    from steersman.controller.leadership import Leads, until_leading, while_leading
    from steersman.controller.loop.control_loop import ControlLoop
    from steersman.controller.loop.synced_controller import Prepared, prepared
    from steersman.controller.ownership.owner_references import (
        controller_of,
        owned_by,
        owner_reference,
    )
    from steersman.controller.pause import PAUSED, is_paused
    from steersman.controller.rbac import (
        Rule,
        as_policy_rules,
        by_namespace,
        permissions,
        rule_yaml,
    )
    from steersman.controller.status.conditions import status_to_apply
    from steersman.controller.threads import ThreadPolicy, Threads, start_thread

__all__ = [
    "NO_LIFESPAN",
    "PAUSED",
    "BlockingContext",
    "BlockingLive",
    "Cached",
    "Context",
    "ControlLoop",
    "Controller",
    "Done",
    "Every",
    "Keys",
    "Kind",
    "Later",
    "Leads",
    "Live",
    "Outcome",
    "Owns",
    "Permanent",
    "Prepared",
    "Recorder",
    "Rule",
    "Source",
    "ThreadPolicy",
    "Threads",
    "Watch",
    "Writes",
    "as_policy_rules",
    "as_writes",
    "by_namespace",
    "changed",
    "check_is_kind",
    "controller_of",
    "is_async",
    "is_paused",
    "lifespan_value",
    "owned_by",
    "owner_reference",
    "permissions",
    "prepared",
    "rule_yaml",
    "start_thread",
    "status_to_apply",
    "token_text",
    "until_leading",
    "while_leading",
]

# What it takes to run a controller is not needed to declare one.
_LAZY = {
    "PAUSED": "pause",
    "BlockingContext": "context.blocking_context",
    "BlockingLive": "context.blocking_context",
    "Context": "context.context",
    "token_text": "context.context",
    "ControlLoop": "loop.control_loop",
    "Every": "declaration.sources",
    "Keys": "declaration.sources",
    "Leads": "leadership",
    "NO_LIFESPAN": "context.lifespan",
    "Live": "context.context",
    "Prepared": "loop.synced_controller",
    "Recorder": "events.recorder",
    "Rule": "rbac",
    "Source": "declaration.sources",
    "ThreadPolicy": "threads",
    "Threads": "threads",
    "start_thread": "threads",
    "as_policy_rules": "rbac",
    "by_namespace": "rbac",
    "controller_of": "ownership.owner_references",
    "is_paused": "pause",
    "owned_by": "ownership.owner_references",
    "owner_reference": "ownership.owner_references",
    "permissions": "rbac",
    "prepared": "loop.synced_controller",
    "rule_yaml": "rbac",
    "status_to_apply": "status.conditions",
    "lifespan_value": "context.lifespan",
    "until_leading": "leadership",
    "while_leading": "leadership",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY, modules={"changed": "changed"})
