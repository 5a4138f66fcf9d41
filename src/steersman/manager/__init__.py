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

from importlib import import_module
from typing import TYPE_CHECKING

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
_DOORS = {
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

if not TYPE_CHECKING:  # to the checkers, a module with this has whatever is asked for

    def __getattr__(name: str) -> object:
        if name not in _DOORS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_DOORS[name]}"), name)
