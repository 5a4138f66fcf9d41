"""The objects that a change enqueues, and the reasons of their reconciles.

Takes:     deltas of informers, timers and streams, with the operator author's predicates and
           mappings
Gives:     keys with a reason and a priority, for the work queue
Promises:  - every change of a child enqueues its controlling owner
           - keys of a stream have the priority of changes
Never:     reads from the server, or waits for a function of the operator author
"""

__all__: list[str] = []  # steersman.controller exports the public names
