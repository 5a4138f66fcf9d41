"""From changes to keys: the objects that a change enqueues, and why.

Takes:     deltas of informers, timers and streams, with an author's predicates and mappings
Gives:     keys with a reason and a priority, for the work queue
Promises:  - every change of a child enqueues its controlling owner
           - keys of a stream have the priority of changes
Never:     reads from the server, or waits for an author's function
"""

__all__: list[str] = []  # what is public, steersman.controller offers
