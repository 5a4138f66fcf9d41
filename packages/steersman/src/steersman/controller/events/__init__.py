"""Kubernetes events, which ``kubectl describe`` shows.

Takes:     a reason and a note about an object
Gives:     ``events.k8s.io/v1`` events in the cluster, repeated ones counted in a series
Promises:  - events about one object are limited to a burst and one more every five minutes
           - the name of an event is valid
Never:     delays the code that records an event, or makes that code fail
"""

__all__: list[str] = []  # steersman.controller exports the public names
