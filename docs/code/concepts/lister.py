"""A lister: get and list from memory, which costs no request."""

from steersman.cache import Lister
from steersman.client import Labels
from steersman.kinds import core_v1


def image_of(pods: Lister[core_v1.Pod], name: str, *, namespace: str) -> str | None:
    """Which image a Pod runs; ``None`` if there is no such Pod."""
    pod = pods.get(name, namespace=namespace)
    return pod.spec.containers[0].image if pod is not None and pod.spec is not None else None


def running(pods: Lister[core_v1.Pod], *, namespace: str, tier: str) -> list[str]:
    """The Pods of a tier that run."""
    found = pods.list(namespace=namespace, labels=Labels.equal({"tier": tier}))
    return sorted(pod.name for pod in found if pod.status and pod.status.phase == "Running")
