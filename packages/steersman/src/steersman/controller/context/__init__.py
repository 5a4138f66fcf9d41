"""The context of a reconcile function: its reads, its writes, and the reasons for the reconcile.

Takes:     the object, its controller's declaration, caches, a writer and a recorder
Gives:     a ``Context``, and a ``BlockingContext`` for a function that runs in a thread
Promises:  - an ended context neither reads nor writes
           - a write in progress when the context ends is cancelled
Never:     reads or writes a kind that the controller does not declare
"""

__all__: list[str] = []  # steersman.controller exports the public names
