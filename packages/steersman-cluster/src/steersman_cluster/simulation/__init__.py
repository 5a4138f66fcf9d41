"""A whole cluster and the operators on it in one thread, in time that is a number.

Takes:     a seed, what builds operators, and the steps of a test
Gives:     a ``SimulatedCluster``, in which an hour of waiting costs milliseconds; ``survives_…``,
           which run a ``Scenario`` again with a fault at every place where there can be one
Promises:  - the same seed gives the same history
           - time passes only when everybody waits
           - a deadlock is an error that names who waits
           - what is killed stops where it is, and none of its finally blocks runs
           - an operator that is started again is built again
           - a plain function is run by hand-over, one at a time
           - a failure is replayed by its seed and fault
Never:     opens a socket, asks what time it really is, or runs two things at once
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names

if TYPE_CHECKING:
    from steersman_cluster.simulation.actors import Actor
    from steersman_cluster.simulation.apart import one_generation
    from steersman_cluster.simulation.clock import VirtualClock
    from steersman_cluster.simulation.cluster import USUAL, Cluster, Operator
    from steersman_cluster.simulation.factory import Built, Factory, factory_of
    from steersman_cluster.simulation.history import Asked, History
    from steersman_cluster.simulation.loop import VirtualLoop
    from steersman_cluster.simulation.scenario import Scenario
    from steersman_cluster.simulation.settling import Agenda
    from steersman_cluster.simulation.simulated_cluster import (
        SimulatedCluster,
        running_simulated_cluster,
        simulate,
    )
    from steersman_cluster.simulation.sweeping import (
        survives_concurrent_writes,
        survives_crashes,
        survives_cut_watches,
        survives_late_caches,
    )
    from steersman_cluster.simulation.trace import story_of
    from steersman_cluster.simulation.ways import Calm, Disturbance

__all__ = [
    "USUAL",
    "Actor",
    "Agenda",
    "Asked",
    "Built",
    "Calm",
    "Cluster",
    "Disturbance",
    "Factory",
    "History",
    "Operator",
    "Scenario",
    "SimulatedCluster",
    "VirtualClock",
    "VirtualLoop",
    "factory_of",
    "one_generation",
    "running_simulated_cluster",
    "simulate",
    "story_of",
    "survives_concurrent_writes",
    "survives_crashes",
    "survives_cut_watches",
    "survives_late_caches",
]

# The server and all kinds of a cluster are loaded when a cluster is made.
_LAZY = {
    "USUAL": "cluster",
    "Actor": "actors",
    "Agenda": "settling",
    "Asked": "history",
    "Built": "factory",
    "Calm": "ways",
    "Disturbance": "ways",
    "Factory": "factory",
    "History": "history",
    "Operator": "cluster",
    "Scenario": "scenario",
    "SimulatedCluster": "simulated_cluster",
    "VirtualClock": "clock",
    "VirtualLoop": "loop",
    "Cluster": "cluster",
    "factory_of": "factory",
    "one_generation": "apart",
    "simulate": "simulated_cluster",
    "running_simulated_cluster": "simulated_cluster",
    "story_of": "trace",
    "survives_concurrent_writes": "sweeping",
    "survives_crashes": "sweeping",
    "survives_cut_watches": "sweeping",
    "survives_late_caches": "sweeping",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
