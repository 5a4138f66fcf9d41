"""An informer: watches one kind, keeps its objects in memory, and notifies handlers."""

from collections.abc import Callable

from steersman.cache import Informer, Scope, handler_funcs
from steersman.client import Client
from steersman.kinds import core_v1
from steersman.observe import Observer


def pods(
    client: Client, log: Callable[[str], None], *, namespace: str, observe: Observer
) -> Informer[core_v1.Pod]:
    """An informer of the Pods of one namespace, and a handler that prints each change."""
    informer = Informer(client, core_v1.Pod, scope=Scope(namespaces=(namespace,)), observe=observe)

    def names() -> list[str]:
        return sorted(pod.name for pod in informer.lister.list())

    informer.add_handler(
        handler_funcs(
            added=lambda pod: log(f"{pod.name} is there; all: {names()}"),
            updated=lambda old, pod: log(f"{pod.name} {phase(old)} -> {phase(pod)}"),
            deleted=lambda pod: log(f"{pod.name} is gone; all: {names()}"),
        )
    )
    return informer


def phase(pod: core_v1.Pod) -> str | None:
    return pod.status.phase if pod.status is not None else None
