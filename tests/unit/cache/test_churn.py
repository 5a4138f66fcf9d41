"""Objects come and go by the hundred thousand, and nothing of them stays."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from random import Random
from typing import Any

import msgspec
import pytest

from steersman.cache import Delta, Informer, by_label, by_namespace
from steersman.client import Client, Deletion
from steersman.kinds import Codec, core_v1
from steersman.names import ObjectKey
from steersman.observe import ignore
from steersman.wire import Request
from tests.clocks import ManualClock
from tests.embedded import turns
from tests.transports import Answer, Piece, ScriptedTransport, saying

ROUNDS = 100
AT_ONCE = 1000  # so that it is a hundred thousand in all

WROTE, MADE, GONE = "MODIFIED", "ADDED", "DELETED"


class Life:
    """Rounds in which many ConfigMaps are made and deleted, every tenth of them by ourselves."""

    def __init__(self) -> None:
        self.version = 1_000_000
        self.held: list[Counter[str]] = []
        self.is_over = asyncio.Event()
        self.transport = ScriptedTransport(answering=self._answer)
        client = Client(self.transport, clock=ManualClock(), rng=Random(0), observe=ignore)
        self.informer = Informer(
            client,
            core_v1.ConfigMap,
            indexes={"namespace": by_namespace, "round": by_label("round"), "odd": _raising},
            observe=ignore,
        )

    def _answer(self, request: Request) -> Answer:
        if ("watch", "true") in request.query:
            return Answer(body=self._pieces())
        metadata = {"resourceVersion": f"{self.version}"}
        return saying({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": metadata})

    def _pieces(self) -> Iterator[Piece]:
        for number in range(ROUNDS):
            names = [f"object-{number}-{each}" for each in range(AT_ONCE)]
            made = [self._state(name, labels={"round": f"{number}"}) for name in names]
            yield self._record_write(made[::10], _object)
            yield _lines(MADE, made)
            # What does not fit its class is kept aside, and goes as well.
            yield _lines(WROTE, [self._state(name, data=7) for name in names[5::10]])
            yield self._record_write(made[::10], _deletion)
            yield _lines(GONE, [self._state(name) for name in names])
            yield self._look
        self.is_over.set()
        yield asyncio.Event().wait

    def _state(self, name: str, **fields: Any) -> dict[str, Any]:
        self.version += 1
        metadata = {
            "name": name,
            "namespace": f"n{name[-1]}",
            "uid": f"uid-of-{name}",
            "resourceVersion": f"{self.version}",
            "labels": fields.pop("labels", {}),
        }
        head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
        return {**head, "data": {"name": name}, **fields}

    def _record_write(self, states: Sequence[Any], answer: Callable[[Any], Any]) -> Piece:
        async def record() -> None:
            await turns()
            for state in states:
                await self.informer.record_write(_written(answer(state)))

        return record

    async def _look(self) -> None:
        await turns()
        self.held.append(held_by(self.informer))


def _raising(obj: core_v1.ConfigMap) -> list[str]:
    raise ValueError(f"{obj.name} is odd")


def _lines(kind: str, states: Sequence[Any]) -> bytes:
    events = ({"type": kind, "object": state} for state in states)
    return b"".join(msgspec.json.encode(event) + b"\n" for event in events)


def _object(state: Any) -> core_v1.ConfigMap:
    return Codec().decode(core_v1.ConfigMap, msgspec.json.encode(state), wanted="make it")


async def _written(answer: Any) -> Any:
    return answer


def _deletion(state: Any) -> Deletion[core_v1.ConfigMap]:
    metadata = state["metadata"]
    return Deletion(
        resource_type=core_v1.ConfigMap.resource_type,
        key=ObjectKey(metadata["namespace"], metadata["name"]),
        obj=None,
        uid=metadata["uid"],
        is_gone=True,
    )


def held_by(thing: Any) -> Counter[str]:
    """How many things are in each collection of ours that can be got at from here, by its path."""
    held: Counter[str] = Counter()
    seen: set[int] = set()
    left = [("", thing)]
    while left:
        path, each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, dict | set | list | deque | tuple):
            held[path] += len(each)
            inside: Collection[Any] = each.values() if isinstance(each, dict) else each
            left += [(f"{path}[]", value) for value in inside]
        elif type(each).__module__.startswith("steersman.") and not isinstance(each, Client):
            names = [*getattr(each, "__dict__", {})]
            for kind in type(each).__mro__:
                names += getattr(kind, "__slots__", ())
            left += [(f"{path}.{name}", getattr(each, name, None)) for name in names]
    return held


@pytest.mark.timeout(60)
async def test_created_and_deleted_objects_leave_nothing_behind() -> None:
    life, counts = Life(), Counter[str]()

    def count(delta: Delta[Any]) -> None:
        counts[type(delta).__name__] += 1

    registration = life.informer.add_handler(count)
    async with life.informer.running():
        await life.is_over.wait()

    assert counts == {"Added": ROUNDS * AT_ONCE, "Deleted": ROUNDS * AT_ONCE}
    assert (len(life.informer), len(registration), len(life.informer.decode_failures)) == (0, 0, 0)
    early, late = life.held[1], life.held[-1]
    assert {path: count for path, count in late.items() if count > early[path]} == {}
    assert early.total() < AT_ONCE
