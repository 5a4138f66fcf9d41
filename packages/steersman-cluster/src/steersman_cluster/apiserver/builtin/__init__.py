"""The kinds that every cluster has: what their objects are given, and what is refused of them.

Takes:     canonical objects, the stored ones that they replace, and what is around them
Gives:     ``Rules`` for every built-in resource, the way between versions of one kind, and what
           a cluster begins with
Promises:  - every built-in resource has rules
           - what a service was given is taken only once it is stored
           - an event comes back the same from its other group
           - an autoscaler comes back the same from its first version
           - what a cluster begins with follows its own rules
Never:     reads or writes the store, waits, or knows how a request came

``table`` leads to the rules of every kind, which are in ``pods``, ``workloads``, ``network``,
``storage`` and ``cluster``: each kind that a person meets daily has a module of its own, or several
that begin alike; the others share one, ``…_kinds``. What objects of one kind ask of those of
another is in ``plugins``. What stands in many of them is in the modules right here.
"""

from steersman_cluster.apiserver.builtin.cluster.bootstrap import bootstrap_objects
from steersman_cluster.apiserver.builtin.conversion import to_served, to_stored
from steersman_cluster.apiserver.builtin.network.service_network import ServiceNetwork
from steersman_cluster.apiserver.builtin.table import shared_rules

__all__ = [
    "ServiceNetwork",
    "bootstrap_objects",
    "shared_rules",
    "to_served",
    "to_stored",
]
