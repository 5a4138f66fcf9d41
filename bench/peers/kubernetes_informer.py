"""``python -m bench.peers.kubernetes_informer``: every AppService in the official informer.

It calls one function for the list and for the watch, and expects attributes where custom resources
come as dictionaries.
"""

import os
import sys
import threading
from types import SimpleNamespace
from typing import Any

from kubernetes import client, config
from kubernetes.informer import ADDED, SharedInformer

from bench.harness.task import GROUP, NAMESPACE, PLURAL, VERSION
from bench.peers.informing import in_short, print_held, print_synced


def main() -> None:
    config.load_kube_config()
    api = client.CustomObjectsApi()
    is_whole = threading.Event()

    # With ``object`` as its type, the watch keeps the resourceVersion up to date.
    def list_apps(namespace: str, watch: bool = False, **options: Any) -> object:
        if watch:
            # First it lists, and hands everything to the handlers.
            is_whole.set()
        answer: Any = api.list_namespaced_custom_object(
            GROUP, VERSION, namespace, PLURAL, watch=watch, **options
        )
        if watch:
            return answer
        version = answer["metadata"]["resourceVersion"]
        return SimpleNamespace(
            items=answer["items"], metadata=SimpleNamespace(resource_version=version)
        )

    seen = 0

    def count(_: Any) -> None:
        nonlocal seen
        seen += 1

    informer = SharedInformer(list_func=list_apps, namespace=NAMESPACE)
    informer.add_event_handler(ADDED, count)
    informer.start()
    is_whole.wait()
    print_synced(seen)
    sys.stdin.read()
    print_held(map(in_short, informer.cache.list()))
    # To stop it would be to wait for the next event, and its thread does not survive a slower end.
    os._exit(0)


if __name__ == "__main__":
    main()
