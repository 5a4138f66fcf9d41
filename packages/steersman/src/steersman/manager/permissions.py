"""The RBAC rules of an operator: for its controllers, its runnables, its lease and its metrics.

The preflight checks exactly these rules, and manifests grant exactly these rules.
"""

from collections.abc import Sequence
from typing import Any, Final

from steersman.cache import CacheOptions
from steersman.controller import Controller, RbacRule, permissions
from steersman.errors import BadSettings
from steersman.manager.runnables import Runnable
from steersman.manager.settings.manager_settings import ManagerSettings

# The rules for an operator whose metrics are read from other machines: group, resource and verb.
METRICS_PERMISSIONS: Final = (
    ("authentication.k8s.io", "tokenreviews", "create"),
    ("authorization.k8s.io", "subjectaccessreviews", "create"),
)


def needed_rules(
    controllers: Sequence[Controller[Any]],
    *,
    settings: ManagerSettings,
    namespace: str,
    runnables: Sequence[Runnable] = (),
    caches: Sequence[CacheOptions[Any]] = (),
) -> tuple[RbacRule, ...]:
    """Return all RBAC rules for an operator that has ``settings`` and runs in ``namespace``."""
    lease = None
    if settings.leader_election:
        name = settings.lease_name or lease_name(controllers)
        lease = settings.lease_namespace or namespace, name
    rules = permissions(
        controllers,
        lease=lease,
        namespaces=settings.namespaces,
        runnables=runnables,
        caches=caches,
    )
    return rules + metrics_rules(settings)


def metrics_rules(settings: ManagerSettings) -> tuple[RbacRule, ...]:
    """Return the RBAC rules that the operator needs to authorize the readers of its metrics.

    The result is empty if metrics are disabled, or served only to this machine.
    """
    if settings.metrics is None or settings.metrics.is_loopback:
        return ()
    return tuple(
        RbacRule(group=group, resource=resource, verbs=(verb,), is_needed=False)
        for group, resource, verb in METRICS_PERMISSIONS
    )


def lease_name(controllers: Sequence[Controller[Any]]) -> str:
    """Return the default name of the lease: the field manager of the first controller.

    All replicas of an operator use the same name, because they have the same controllers in the
    same order.
    """
    if not controllers:
        raise BadSettings(
            source="lease_name",
            problem="the manager has no controllers from which to derive the name of its lease",
            what_now="Set a name that no other operator uses, or disable leader_election.",
        )
    return controllers[0].field_manager
