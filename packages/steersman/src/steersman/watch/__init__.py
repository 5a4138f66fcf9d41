"""The reflector: lists and watches, and passes all objects and events to a store without gaps.

Takes:     a source (the objects of one kind, or some of them, on a server) and a store
Gives:     all objects, as one list, and then the events, in the server's order
Promises:  - after any failure the store contains the objects of a new list
           - an object deleted in a gap is missing from the next list
           - the position never goes back within one history
           - a rewound history replaces the old one and is observed
           - streamed initial events are never resumed in the middle
           - a silent watch is closed and resumed
           - a missing kind is listed again until it exists
           - no failure is retried without a wait
           - a watch never resumes from a version far ahead
Never:     stores objects, stops retrying, or hides a failure
"""

from steersman.watch.keys import identity_in, identity_of, key_of
from steersman.watch.lister_watcher import ClientListerWatcher, ListerWatcher
from steersman.watch.reflector import Reflector
from steersman.watch.reflector_store import ReflectorStore
from steersman.watch.settings import ReflectorSettings
from steersman.watch.versions import is_far_ahead, is_older, newest_first

__all__ = [
    "ClientListerWatcher",
    "ListerWatcher",
    "Reflector",
    "ReflectorSettings",
    "ReflectorStore",
    "identity_in",
    "identity_of",
    "is_far_ahead",
    "is_older",
    "key_of",
    "newest_first",
]
