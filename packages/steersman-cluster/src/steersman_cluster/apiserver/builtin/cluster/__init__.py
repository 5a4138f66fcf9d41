"""Kinds about the cluster itself: nodes, namespaces, rights, configuration, events, extensions.

Takes:     objects of these kinds
Gives:     their rules, and what a cluster begins with
Promises:  - what a cluster begins with follows its own rules
           - a new Node is not ready and keeps what it says of itself
           - nothing new comes into a namespace that ends
           - what was decided stays decided
Never:     decides who may do what: ``authz`` does
"""

__all__: list[str] = []
