"""What runs, in which order it starts and stops, and which replica acts.

Takes:     controllers and runnables, settings, and a way to the cluster
Gives:     an operator: caches, then leadership, then workers; probes and metrics beside them
Promises:  - no worker starts before the caches are whole
           - a controller whose kind is missing holds up no other
           - a write of a replica that no longer leads is not sent
           - a standby keeps its caches warm and writes nothing
           - the lease is released after the last worker has ended
           - a stop ends within its grace
           - a second signal ends an operator at once
           - it is not ready while a cache is stale
           - it is not ready within a minute of a server that hangs
           - an operator whose server is away is alive
           - metrics are told to nobody who may not read them
           - a missing permission is named with the rule that would grant it
           - an operator that lacks a right goes on by itself once it has it
Never:     seizes the root logger, listens beyond this machine unless told to, or compares a
           timestamp of another machine with its own clock
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names

if TYPE_CHECKING:
    from steersman.manager.election import LeaseSettings
    from steersman.manager.fencing import Fence, FencedTransport
    from steersman.manager.leadership import Leadership
    from steersman.manager.manager import Manager
    from steersman.manager.needs import lease_name, metrics_rules, needed_rules
    from steersman.manager.options import Collector, HealthCheck, Lifespan
    from steersman.manager.runnables import ManagerEnvironment, Runnable, Services
    from steersman.manager.setting_sources import SETTINGS, Setting
    from steersman.manager.settings import ManagerSettings, trust_of

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

# Whoever describes a manager need not run one.
_LAZY = {
    "SETTINGS": "setting_sources",
    "Fence": "fencing",
    "FencedTransport": "fencing",
    "Collector": "options",
    "HealthCheck": "options",
    "Lifespan": "options",
    "Leadership": "leadership",
    "LeaseSettings": "election",
    "Manager": "manager",
    "ManagerEnvironment": "runnables",
    "ManagerSettings": "settings",
    "Runnable": "runnables",
    "Services": "runnables",
    "Setting": "setting_sources",
    "lease_name": "needs",
    "metrics_rules": "needs",
    "needed_rules": "needs",
    "trust_of": "settings",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
