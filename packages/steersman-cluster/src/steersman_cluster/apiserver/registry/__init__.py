"""The handlers of each verb of a resource, and the store behind them.

Takes:     an ``APIRequest``, and the ``RequestScope``: the store, admission, field managers
Gives:     the answer, or the lines of a watch
Promises:  - a write that changes nothing has no new version
           - a patch that breaks a rule is refused and changes nothing
           - a finalizer holds an object until it is taken away
Never:     authenticates, or lets another request in between reading an object and replacing it

``dispatcher`` chooses the handler.
"""

from steersman_cluster.apiserver.registry.dispatcher import dispatch

__all__ = ["dispatch"]
