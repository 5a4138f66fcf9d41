"""From changes to keys: which objects a change wakes, and why.

Takes:     deltas of informers, timers and streams, with an author's predicates and mappings
Gives:     keys with a reason and a priority, for the work queue
Promises:  - whatever happens to a child wakes the owner that controls it
           - keys from outside are as urgent as changes
Never:     reads from the server, or waits for an author's function
"""

__all__: list[str] = []  # what is public, steersman.controller offers
