"""The handlers of each verb of a resource, and the store that they use.

Takes:     an ``APIRequest``, and the ``RequestScope``: the store, admission, field managers
Gives:     the response, or the lines of a watch
Promises:  - a write that changes nothing keeps the resource version
           - an invalid patch is rejected and changes nothing
           - an object is deleted only after its last finalizer is removed
Never:     authenticates, or yields to another request between reading an object and replacing it

``dispatcher`` chooses the handler of a request.
"""

from steersman_cluster.apiserver.registry.dispatcher import dispatch

__all__ = ["dispatch"]
