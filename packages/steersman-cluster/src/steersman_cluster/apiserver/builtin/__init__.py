"""The built-in kinds: their defaults, admission plugins, validation and version conversion.

Takes:     canonical objects, the stored objects that they replace, and access to other objects
Gives:     a ``Strategy`` for every built-in resource, the conversion between the versions of a
           kind, and the initial objects of a cluster
Promises:  - every built-in resource has a strategy
           - an allocation takes effect only when the service is stored
           - an event is unchanged after conversion to its other group and back
           - an autoscaler is unchanged after conversion to its first version and back
           - the initial objects of a cluster are valid
Never:     reads or writes the store, waits, or depends on how a request arrived

``table`` lists the strategy of every kind. The rules are in ``pods``, ``workloads``, ``network``,
``storage`` and ``cluster``, as tables of the rows in ``rule``. Each common kind has its own module,
or several modules whose names start alike; the other kinds share the modules ``…_kinds``.
``plugins`` contains the admission plugins, which check an object against objects of other kinds.
The modules directly in this package are used by many kinds.
"""

from steersman_cluster.apiserver.builtin.cluster.bootstrap import bootstrap_objects
from steersman_cluster.apiserver.builtin.conversion import to_served, to_stored
from steersman_cluster.apiserver.builtin.network.service_network import ServiceNetwork
from steersman_cluster.apiserver.builtin.table import shared_strategies

__all__ = [
    "ServiceNetwork",
    "bootstrap_objects",
    "shared_strategies",
    "to_served",
    "to_stored",
]
