"""An operator for Greetings, written with lightkube: one loop over a list and a watch.

``python lightkube_greeter.py NAMESPACE``
"""

import sys
from datetime import UTC, datetime
from typing import Any

from lightkube import ApiError, Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.core_v1 import EventSource, ObjectReference
from lightkube.models.meta_v1 import ObjectMeta, OwnerReference
from lightkube.resources.core_v1 import ConfigMap, Event
from lightkube.types import PatchType

FINALIZER = "foreign.steersman.dev/lightkube"

Greeting = create_namespaced_resource("foreign.steersman.dev", "v1", "Greeting", "greetings")


def main(namespace: str) -> None:
    client = Client(namespace=namespace, field_manager="lightkube-greeter")
    greetings = client.list(Greeting)
    for greeting in greetings:
        reconcile(client, greeting)
    for kind_of_change, greeting in client.watch(
        Greeting, resource_version=greetings.resourceVersion
    ):
        print(kind_of_change, greeting.metadata.name)
        if kind_of_change != "DELETED":
            try:
                reconcile(client, greeting)
            except ApiError as error:
                # After a conflict, the watch delivers the newer version.
                if error.status.code != 409:
                    raise


def reconcile(client: Client, greeting: Any) -> None:
    if greeting.metadata.deletionTimestamp:
        finalize(client, greeting)
        return
    name, spec = greeting.metadata.name, greeting.spec
    message = f"Hello, {spec['name']}{'!' if spec['excited'] else '.'}"
    if (greeting.status or {}).get("message") == message:
        return
    if FINALIZER not in (greeting.metadata.finalizers or []):
        finalizers = {
            "resourceVersion": greeting.metadata.resourceVersion,
            "finalizers": [*(greeting.metadata.finalizers or []), FINALIZER],
        }
        client.patch(Greeting, name, {"metadata": finalizers}, patch_type=PatchType.MERGE)
    owner = OwnerReference(
        apiVersion=greeting.apiVersion,
        kind=greeting.kind,
        name=name,
        uid=greeting.metadata.uid,
        controller=True,
    )
    client.apply(
        ConfigMap(
            metadata=ObjectMeta(name=name, ownerReferences=[owner]), data={"message": message}
        )
    )
    status = {"status": {"message": message}}
    client.patch(Greeting.Status, name, status, patch_type=PatchType.MERGE)
    record(client, greeting, f"said {message!r}")


def record(client: Client, greeting: Any, message: str) -> None:
    now = datetime.now(UTC)
    client.create(
        Event(
            metadata=ObjectMeta(generateName=f"{greeting.metadata.name}."),
            involvedObject=ObjectReference(
                apiVersion=greeting.apiVersion,
                kind=greeting.kind,
                name=greeting.metadata.name,
                namespace=greeting.metadata.namespace,
                uid=greeting.metadata.uid,
            ),
            type="Normal",
            reason="Greeted",
            message=message,
            source=EventSource(component="lightkube-greeter"),
            firstTimestamp=now,
            lastTimestamp=now,
            count=1,
        )
    )


def finalize(client: Client, greeting: Any) -> None:
    # Without controllers, no garbage collector deletes the ConfigMap.
    try:
        client.delete(ConfigMap, greeting.metadata.name)
    except ApiError as error:
        if error.status.code != 404:
            raise
    finalizers = [each for each in greeting.metadata.finalizers if each != FINALIZER]
    freed = {"metadata": {"finalizers": finalizers}}
    client.patch(Greeting, greeting.metadata.name, freed, patch_type=PatchType.MERGE)


if __name__ == "__main__":
    main(sys.argv[1])
