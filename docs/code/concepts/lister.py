"""A lister: gets and lists from memory, without a request."""

from steersman.cache import Lister
from steersman.client import Labels
from steersman.kinds import core_v1


def image_of(pods: Lister[core_v1.Pod], name: str, *, namespace: str) -> str | None:
    """Return the image of a Pod; ``None`` if the Pod does not exist."""
    pod = pods.get(name, namespace=namespace)
    return pod.spec.containers[0].image if pod is not None and pod.spec is not None else None


def running(pods: Lister[core_v1.Pod], *, namespace: str, tier: str) -> list[str]:
    """Return the names of the running Pods of a tier."""
    found = pods.list(namespace=namespace, labels=Labels.equal({"tier": tier}))
    return sorted(pod.name for pod in found if pod.status and pod.status.phase == "Running")
