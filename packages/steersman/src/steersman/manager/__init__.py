"""``Manager``: starts and stops an operator in order; only one replica writes at a time.

    settings         arguments, environment and a file
    leader_election  the lease, and the fence that refuses writes without it
    endpoints        probes and metrics
    operation        starts and stops all of it, with ``startup`` for the controllers

Takes:     controllers and runnables, settings, and a connection to the cluster
Gives:     an operator: caches, then leadership, then workers; probes and metrics beside them
Promises:  - no worker starts before the caches have synced
           - a controller whose kind is missing delays no other
           - a standby keeps its caches warm and writes nothing
           - an operator stops within its grace period
           - a second signal ends an operator immediately
           - an operator with a stale cache is not ready
           - an operator is not ready within a minute after its server hangs
           - an operator whose server is unreachable is alive
           - a missing permission is named with the rule that would grant it
           - an operator that lacks a permission continues when it is granted
Never:     configures the root logger, or listens beyond this machine unless its settings say so
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names

if TYPE_CHECKING:
    from steersman.manager.leader_election.election import LeaseSettings
    from steersman.manager.leader_election.fence import Fence, FencedTransport
    from steersman.manager.leader_election.leadership import Leadership
    from steersman.manager.manager import Manager
    from steersman.manager.options import Collector, HealthCheck, Lifespan
    from steersman.manager.permissions import lease_name, metrics_rules, needed_rules
    from steersman.manager.runnables import ManagerEnvironment, Runnable, Services
    from steersman.manager.settings.manager_settings import ManagerSettings, trust_of
    from steersman.manager.settings.sources import SETTINGS, Setting

__all__ = [
    "SETTINGS",
    "Collector",
    "Fence",
    "FencedTransport",
    "HealthCheck",
    "Leadership",
    "LeaseSettings",
    "Lifespan",
    "Manager",
    "ManagerEnvironment",
    "ManagerSettings",
    "Runnable",
    "Services",
    "Setting",
    "lease_name",
    "metrics_rules",
    "needed_rules",
    "trust_of",
]

# Loaded lazily: describing a manager does not need the code that runs it.
_LAZY = {
    "SETTINGS": "settings.sources",
    "Fence": "leader_election.fence",
    "FencedTransport": "leader_election.fence",
    "Collector": "options",
    "HealthCheck": "options",
    "Lifespan": "options",
    "Leadership": "leader_election.leadership",
    "LeaseSettings": "leader_election.election",
    "Manager": "manager",
    "ManagerEnvironment": "runnables",
    "ManagerSettings": "settings.manager_settings",
    "Runnable": "runnables",
    "Services": "runnables",
    "Setting": "settings.sources",
    "lease_name": "permissions",
    "metrics_rules": "permissions",
    "needed_rules": "permissions",
    "trust_of": "settings.manager_settings",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
