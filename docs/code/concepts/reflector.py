"""The reflector: a list, then a watch, told to a sink as one story."""

from collections.abc import Mapping, Sequence

from steersman.client import Client, Labels
from steersman.errors import InvalidObject
from steersman.kinds import core_v1
from steersman.names import ObjectKey
from steersman.observe import Observer
from steersman.watch import ClientSource, Reflector, ReflectorSettings


class Diary:
    """A sink that writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def replace(
        self,
        objects: Mapping[ObjectKey, core_v1.ConfigMap],
        misfits: Sequence[InvalidObject],
        version: str,
        *,
        rewound: bool,
    ) -> None:
        self.told.append(f"there are {sorted(key.name for key in objects)}")

    def wrote(self, obj: core_v1.ConfigMap) -> None:
        self.told.append(f"{obj.name} was written")

    def removed(self, obj: core_v1.ConfigMap) -> None:
        self.told.append(f"{obj.name} is gone")

    def misfit(self, error: InvalidObject, version: str, *, is_gone: bool) -> None:
        self.told.append(str(error))

    def reached(self, version: str) -> None:
        """Nothing happened up to here: a place to go on from."""


async def reflect(client: Client, diary: Diary, *, namespace: str, observe: Observer) -> None:
    """Tell the diary of the notes in a namespace, for ever."""
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
