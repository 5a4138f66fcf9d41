"""Parts of a cluster that have nothing to do yet: they sleep, and cost nothing.

A cluster begins where its cluster has settled, so that nobody has missed anything. The first write
that may concern a part wakes it, and from then on it stays awake.
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

# What concerns whom. Who is not here is always awake.
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
    parts: Sequence[str], server: ApiServer, wake: Callable[[str], None]
) -> None:
    """Have ``wake`` called once for each part, when something is written that concerns it."""
    asleep = set(parts)

    def hear(part: str, concerns: Trigger, obj: Mapping[str, Any]) -> None:
        if part in asleep and concerns(obj):
            asleep.remove(part)
            wake(part)

    for part in parts:
        for resource, concerns in TRIGGERS[part].items():
            server.store.listen(resource, partial(hear, part, concerns))
