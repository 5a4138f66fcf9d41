"""Pods and Pod templates: containers, volumes, security, scheduling.

Takes:     Pods and Pod templates
Gives:     their defaults and the errors in them; the parts of a Pod with their own subresource
Promises:  - a minimal Pod is stored with all defaults
           - each error in a Pod contains its path
           - a resize changes only the resources of a Pod
Never:     reads objects of other kinds: ``plugins`` do

``pods`` contains the rules of Pods. Workloads share ``pod_specs`` with them.
"""

__all__: list[str] = []
