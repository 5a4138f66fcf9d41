"""Kinds about the cluster itself: nodes, namespaces, RBAC, configuration, events, extensions.

Takes:     objects of these kinds
Gives:     their rules, and the initial objects of a cluster
Promises:  - the initial objects of a cluster are valid
           - a new Node is tainted as not ready and keeps its status
           - a new object in a terminating namespace is rejected
           - the approval or denial of a certificate request is final
Never:     authorizes a request: ``authz`` does
"""

__all__: list[str] = []
