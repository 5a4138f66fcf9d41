"""Kubernetes events: what people read with ``kubectl describe``.

Takes:     a reason and a note about an object
Gives:     ``events.k8s.io/v1`` events in the cluster, repeated ones counted in a series
Promises:  - one object has a burst of events and one more every five minutes
           - the name of an event is valid
Never:     delays the code that records an event, or fails it
"""

__all__: list[str] = []  # what is public, steersman.controller offers
