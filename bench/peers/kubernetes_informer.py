"""``python -m bench.peers.kubernetes_informer``: every AppService in the official informer.

The informer calls one function for the list and for the watch. It expects a list with attributes,
but the lists of custom resources are dictionaries.
"""

import os
import sys
import threading
from types import SimpleNamespace
from typing import Any

from kubernetes import client, config
from kubernetes.informer import ADDED, SharedInformer

from bench.harness.task import GROUP, NAMESPACE, PLURAL, VERSION
from bench.peers.informer_output import print_cache, print_synced, summary_fields


def main() -> None:
    config.load_kube_config()
    api = client.CustomObjectsApi()
    has_synced = threading.Event()

    # With the return type ``object``, the watch updates the resourceVersion.
    def list_apps(namespace: str, watch: bool = False, **options: Any) -> object:
        if watch:
            # The watch starts after the list and its handlers.
            has_synced.set()
        result: Any = api.list_namespaced_custom_object(
            GROUP, VERSION, namespace, PLURAL, watch=watch, **options
        )
        if watch:
            return result
        version = result["metadata"]["resourceVersion"]
        return SimpleNamespace(
            items=result["items"], metadata=SimpleNamespace(resource_version=version)
        )

    seen = 0

    def count(_: Any) -> None:
        nonlocal seen
        seen += 1

    informer = SharedInformer(list_func=list_apps, namespace=NAMESPACE)
    informer.add_event_handler(ADDED, count)
    informer.start()
    has_synced.wait()
    print_synced(seen)
    sys.stdin.read()
    print_cache(map(summary_fields, informer.cache.list()))
    # stop() would wait for the next event, and the thread fails if the interpreter shuts down.
    os._exit(0)


if __name__ == "__main__":
    main()
