"""The reflector: lists and watches, and passes all objects and events to a store."""

from collections.abc import Mapping, Sequence

from steersman.client import Client, Labels
from steersman.errors import InvalidObject
from steersman.kinds import core_v1
from steersman.names import ObjectKey
from steersman.observe import Observer
from steersman.watch import ClientListerWatcher, Reflector, ReflectorSettings


class RecordingStore:
    """A store that records what it receives."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def replace(
        self,
        objects: Mapping[ObjectKey, core_v1.ConfigMap],
        decode_failures: Sequence[InvalidObject],
        version: str,
        *,
        rewound: bool,
    ) -> None:
        self.lines.append(f"there are {sorted(key.name for key in objects)}")

    def upsert(self, obj: core_v1.ConfigMap) -> None:
        self.lines.append(f"{obj.name} was written")

    def delete(self, obj: core_v1.ConfigMap) -> None:
        self.lines.append(f"{obj.name} is gone")

    def decode_failed(self, error: InvalidObject, version: str, *, is_gone: bool) -> None:
        self.lines.append(str(error))

    def progress(self, version: str) -> None:
        """All events up to here have been received: a version to resume from."""


async def reflect(
    client: Client, store: RecordingStore, *, namespace: str, observe: Observer
) -> None:
    """List and watch the notes of a namespace, and pass them to the store."""
    notes = Labels.equal({"sort": "note"})
    source = ClientListerWatcher(client, core_v1.ConfigMap, namespace=namespace, labels=notes)
    reflector = Reflector(
        source,
        store,
        clock=client.clock,
        rng=client.rng,
        observe=observe,
        settings=ReflectorSettings(),
    )
    await reflector.run()
