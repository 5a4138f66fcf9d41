"""A cluster and the operators on it in one thread, in virtual time.

Takes:     a seed, a function that builds operators, and the steps of a test
Gives:     a ``SimulatedCluster``, in which an hour takes milliseconds; ``survives_…``,
           which run a ``Scenario`` again with a fault at each possible point
Promises:  - the same seed gives the same history
           - time advances only when every task waits
           - a deadlock is an error that names the waiting tasks
           - a killed operator stops immediately without finally blocks
           - an operator that is started again is built again
           - only one function that is not async runs at a time
           - a failure is replayed by its seed and fault
Never:     opens a socket, reads the system clock, or runs two tasks at the same time
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names

if TYPE_CHECKING:
    from steersman_cluster.simulation.actors import Actor
    from steersman_cluster.simulation.clock import VirtualClock
    from steersman_cluster.simulation.cluster import DEFAULT_SETTINGS, Cluster, Operator
    from steersman_cluster.simulation.factory import Built, Factory, factory_of
    from steersman_cluster.simulation.history import History, RecordedRequest
    from steersman_cluster.simulation.loop import VirtualLoop
    from steersman_cluster.simulation.nested_loop import deferred_collection
    from steersman_cluster.simulation.pending_work import PendingWork
    from steersman_cluster.simulation.scenarios.scenario import Scenario
    from steersman_cluster.simulation.scenarios.sweeps import (
        survives_concurrent_writes,
        survives_crashes,
        survives_cut_watches,
        survives_late_caches,
    )
    from steersman_cluster.simulation.scenarios.trace import last_writes
    from steersman_cluster.simulation.simulated_cluster import (
        SimulatedCluster,
        running_simulated_cluster,
        simulate,
    )
    from steersman_cluster.simulation.transport import FaultInjector, NoFaults

__all__ = [
    "DEFAULT_SETTINGS",
    "Actor",
    "Built",
    "Cluster",
    "Factory",
    "FaultInjector",
    "History",
    "NoFaults",
    "Operator",
    "PendingWork",
    "RecordedRequest",
    "Scenario",
    "SimulatedCluster",
    "VirtualClock",
    "VirtualLoop",
    "deferred_collection",
    "factory_of",
    "last_writes",
    "running_simulated_cluster",
    "simulate",
    "survives_concurrent_writes",
    "survives_crashes",
    "survives_cut_watches",
    "survives_late_caches",
]

# The server and all kinds of a cluster are loaded when a cluster is made.
_LAZY = {
    "DEFAULT_SETTINGS": "cluster",
    "Actor": "actors",
    "PendingWork": "pending_work",
    "RecordedRequest": "history",
    "Built": "factory",
    "NoFaults": "transport",
    "FaultInjector": "transport",
    "Factory": "factory",
    "History": "history",
    "Operator": "cluster",
    "Scenario": "scenarios.scenario",
    "SimulatedCluster": "simulated_cluster",
    "VirtualClock": "clock",
    "VirtualLoop": "loop",
    "Cluster": "cluster",
    "factory_of": "factory",
    "deferred_collection": "nested_loop",
    "simulate": "simulated_cluster",
    "running_simulated_cluster": "simulated_cluster",
    "last_writes": "scenarios.trace",
    "survives_concurrent_writes": "scenarios.sweeps",
    "survives_crashes": "scenarios.sweeps",
    "survives_cut_watches": "scenarios.sweeps",
    "survives_late_caches": "scenarios.sweeps",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
