"""What the cluster holds, kept in memory and up to date: informers, indexes and listers.

Takes:     the story that ``watch`` tells, and the answers to our own writes
Gives:     objects by name, namespace, label and index; changes, in order, to handlers
Promises:  - the store is updated before anyone is told
           - no object is lost and no ghost is kept
           - we read our own writes
           - reads never go back in time
           - a slow or failing handler delays nobody but itself
           - handlers see what is there first and each object's changes in order
           - one informer for each kind and scope however many use it
           - an informer that nobody needs is dropped
           - a cache that cannot follow no longer counts as synced
           - an object that does not fit is kept aside and the others go on
Never:     writes to the cluster, copies what it gives out, or asks the server when it is read
"""

from steersman.cache.background import Start, in_background, is_cancelled
from steersman.cache.caches import Caches, Wanted
from steersman.cache.delta_fifo import (
    Added,
    Deleted,
    Delta,
    DeltaFifo,
    Reached,
    Refused,
    Replaced,
    Sync,
    Updated,
)
from steersman.cache.handlers import Handler, Registration, on
from steersman.cache.indexer import Indexer
from steersman.cache.indexes import (
    IndexFunction,
    by_controller,
    by_label,
    by_namespace,
    by_owner,
)
from steersman.cache.informer import Informer, InformerSettings, sync_problem
from steersman.cache.lister import Lister
from steersman.cache.mutations import Mutation, MutationDetector
from steersman.cache.options import CacheOptions, options_of
from steersman.cache.scope import Scope
from steersman.watch import key_of

__all__ = [
    "Added",
    "CacheOptions",
    "Caches",
    "Deleted",
    "Delta",
    "DeltaFifo",
    "Handler",
    "IndexFunction",
    "Indexer",
    "Informer",
    "InformerSettings",
    "Lister",
    "Mutation",
    "MutationDetector",
    "Reached",
    "Refused",
    "Registration",
    "Replaced",
    "Scope",
    "Start",
    "Sync",
    "Updated",
    "Wanted",
    "by_controller",
    "by_label",
    "by_namespace",
    "by_owner",
    "in_background",
    "is_cancelled",
    "key_of",
    "on",
    "options_of",
    "sync_problem",
]
