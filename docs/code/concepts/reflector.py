"""The reflector: lists and watches, and passes everything to a sink."""

from collections.abc import Mapping, Sequence

from steersman.client import Client, Labels
from steersman.errors import InvalidObject
from steersman.kinds import core_v1
from steersman.names import ObjectKey
from steersman.observe import Observer
from steersman.watch import ClientSource, Reflector, ReflectorSettings


class Diary:
    """A sink that writes down what it receives."""

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


async def reflect(client: Client, diary: Diary, *, namespace: str, observe: Observer) -> None:
    """Write the notes of a namespace into the diary, for ever."""
    notes = Labels.equal({"sort": "note"})
    source = ClientSource(client, core_v1.ConfigMap, namespace=namespace, labels=notes)
    reflector = Reflector(
        source,
        diary,
        clock=client.clock,
        rng=client.rng,
        observe=observe,
        settings=ReflectorSettings(),
    )
    await reflector.run()
