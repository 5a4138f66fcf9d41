"""A list and a watch, joined into one unbroken story across any disconnect: the reflector.

Takes:     a source (the objects of one kind, or some of them, on a server) and a sink
Gives:     what there is, as one list, and then what happens, in the order of the server's story
Promises:  - after any disturbance the sink has what a fresh list has
           - what was deleted in a gap is missing from the list that follows
           - the position never goes back within one history
           - a rewound history becomes the truth and is observed
           - streamed initial events are never resumed in the middle
           - a watch that falls silent is cut and resumed
           - a kind that is missing is looked for until it returns
           - no failure is retried without a wait
           - a version from the far future is not gone on from
Never:     keeps objects, gives up, or hides that it is failing
"""

from steersman.watch.keys import identity_in, identity_of, key_of
from steersman.watch.reflector import Reflector
from steersman.watch.settings import ReflectorSettings
from steersman.watch.sink import Sink
from steersman.watch.source import ClientSource, Source
from steersman.watch.versions import is_far_ahead, is_older, newest_first

__all__ = [
    "ClientSource",
    "Reflector",
    "ReflectorSettings",
    "Sink",
    "Source",
    "identity_in",
    "identity_of",
    "is_far_ahead",
    "is_older",
    "key_of",
    "newest_first",
]
