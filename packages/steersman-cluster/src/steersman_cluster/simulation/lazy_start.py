"""Starts the cluster's own controllers when they are first needed; idle ones cost nothing.

``TRIGGERS`` lists the writes that start each controller. A simulated cluster is settled when it
starts, so a controller that starts late has missed nothing. A started controller is never stopped.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from steersman.names import GroupResource
from steersman_cluster.apiserver import ApiServer

Trigger: TypeAlias = Callable[[Mapping[str, Any]], bool]


def _anything(_: Mapping[str, Any]) -> bool:
    return True


def _is_root_ca(obj: Mapping[str, Any]) -> bool:
    is_it: bool = obj["metadata"]["name"] == "kube-root-ca.crt"
    return is_it


def _has_volumes_of_its_own(pod: Mapping[str, Any]) -> bool:
    return any("ephemeral" in each for each in pod["spec"].get("volumes") or ())


def _is_tracked(pod: Mapping[str, Any]) -> bool:
    return "batch.kubernetes.io/job-tracking" in pod["metadata"].get("finalizers", ())


_PODS: Final = GroupResource("", "pods")

# The writes that start a controller, by its name. Controllers that are not listed always run.
TRIGGERS: Final[Mapping[str, Mapping[GroupResource, Trigger]]] = {
    "namespaces": {
        GroupResource("", "namespaces"): _anything,
        GroupResource("", "serviceaccounts"): _anything,
        GroupResource("", "configmaps"): _is_root_ca,
    },
    "volumes": {
        GroupResource("", "persistentvolumeclaims"): _anything,
        GroupResource("", "persistentvolumes"): _anything,
        GroupResource("storage.k8s.io", "storageclasses"): _anything,
        _PODS: _has_volumes_of_its_own,
    },
    "replicationcontrollers": {GroupResource("", "replicationcontrollers"): _anything},
    "statefulsets": {GroupResource("apps", "statefulsets"): _anything},
    "daemonsets": {GroupResource("apps", "daemonsets"): _anything},
    "jobs": {GroupResource("batch", "jobs"): _anything, _PODS: _is_tracked},
    "cronjobs": {GroupResource("batch", "cronjobs"): _anything},
    "podautoscalers": {GroupResource("autoscaling", "horizontalpodautoscalers"): _anything},
    "disruptions": {GroupResource("policy", "poddisruptionbudgets"): _anything},
    "quotas": {GroupResource("", "resourcequotas"): _anything},
}


def start_on_first_write(
    parts: Sequence[str], server: ApiServer, start: Callable[[str], None]
) -> None:
    """Call ``start`` with the name of each controller in ``parts``, at the first write for it.

    ``TRIGGERS`` lists the writes that start each controller. For each of them, ``start`` is called
    once.
    """
    idle = set(parts)

    def check(part: str, concerns: Trigger, obj: Mapping[str, Any]) -> None:
        if part in idle and concerns(obj):
            idle.remove(part)
            start(part)

    for part in parts:
        for resource, concerns in TRIGGERS[part].items():
            server.store.listen(resource, partial(check, part, concerns))
