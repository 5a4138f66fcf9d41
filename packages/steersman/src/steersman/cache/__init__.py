"""Informers, indexes and listers: the objects of the cluster in memory, kept up to date.

Takes:     lists and events from ``watch``, and responses to the operator's own writes
Gives:     objects by name, namespace, label and index; ordered changes to handlers
Promises:  - the store is updated before handlers are called
           - no object is lost and no deleted object stays
           - reads include our own writes
           - reads never go back in time
           - a slow or failing handler delays no other handler
           - handlers get existing objects first and each object's changes in order
           - one informer for each kind and scope however many use it
           - an informer without users is stopped
           - a cache that cannot watch no longer counts as synced
           - an object that cannot be decoded is set aside and the others continue
Never:     writes to the cluster, copies the objects that it returns, or requests a read from the
           server
"""

from steersman.cache.background import Start, background_tasks, is_cancelled
from steersman.cache.caches import Caches, InformerSpec
from steersman.cache.delta_fifo import (
    Added,
    Deleted,
    Delta,
    DeltaFifo,
    NotDecoded,
    Progress,
    Replaced,
    Sync,
    Updated,
)
from steersman.cache.handlers import Handler, Registration, handler_funcs
from steersman.cache.informer import Informer, InformerSettings, sync_problem
from steersman.cache.options import CacheOptions, options_of
from steersman.cache.scope import Scope
from steersman.cache.store.indexer import Indexer
from steersman.cache.store.indexes import (
    IndexFunction,
    by_controller,
    by_label,
    by_namespace,
    by_owner,
)
from steersman.cache.store.lister import Lister
from steersman.cache.store.mutations import Mutation, MutationDetector

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
    "InformerSpec",
    "Lister",
    "Mutation",
    "MutationDetector",
    "NotDecoded",
    "Progress",
    "Registration",
    "Replaced",
    "Scope",
    "Start",
    "Sync",
    "Updated",
    "background_tasks",
    "by_controller",
    "by_label",
    "by_namespace",
    "by_owner",
    "handler_funcs",
    "is_cancelled",
    "options_of",
    "sync_problem",
]
