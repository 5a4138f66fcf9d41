"""After 30,000 objects are created and deleted, the informer keeps nothing of them."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from random import Random
from typing import Any

import msgspec

from steersman.cache import Delta, Informer, by_label, by_namespace
from steersman.client import Client, Deletion
from steersman.kinds import Codec, core_v1
from steersman.names import ObjectKey
from steersman.observe import ignore
from steersman.wire import Request
from tests.clocks import ManualClock
from tests.embedded import turns
from tests.transports import FakeResponse, Piece, ScriptedTransport, json_response

ROUNDS = 30
PER_ROUND = 1000

MODIFIED, ADDED, DELETED = "MODIFIED", "ADDED", "DELETED"


class ChurnRun:
    """Rounds that create and delete many ConfigMaps, a tenth of them by the operator."""

    def __init__(self) -> None:
        self.version = 1_000_000
        self.sizes: list[Counter[str]] = []
        self.is_finished = asyncio.Event()
        self.transport = ScriptedTransport(respond=self._answer)
        client = Client(self.transport, clock=ManualClock(), rng=Random(0), observe=ignore)
        self.informer = Informer(
            client,
            core_v1.ConfigMap,
            indexes={"namespace": by_namespace, "round": by_label("round"), "odd": _raising},
            observe=ignore,
        )

    def _answer(self, request: Request) -> FakeResponse:
        if ("watch", "true") in request.query:
            return FakeResponse(body=self._pieces())
        metadata = {"resourceVersion": f"{self.version}"}
        return json_response({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": metadata})

    def _pieces(self) -> Iterator[Piece]:
        for number in range(ROUNDS):
            names = [f"object-{number}-{each}" for each in range(PER_ROUND)]
            created = [self._state(name, labels={"round": f"{number}"}) for name in names]
            yield self._record_write(created[::10], _object)
            yield _lines(ADDED, created)
            # Objects that do not decode are stored separately, and are removed as well.
            yield _lines(MODIFIED, [self._state(name, data=7) for name in names[5::10]])
            yield self._record_write(created[::10], _deletion)
            yield _lines(DELETED, [self._state(name) for name in names])
            yield self._count
        self.is_finished.set()
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

    async def _count(self) -> None:
        await turns()
        self.sizes.append(collection_sizes(self.informer))


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


def collection_sizes(thing: Any) -> Counter[str]:
    """The sizes of all collections of steersman's objects that can be reached, by path."""
    sizes: Counter[str] = Counter()
    seen: set[int] = set()
    left = [("", thing)]
    while left:
        path, each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, dict | set | list | deque | tuple):
            sizes[path] += len(each)
            inside: Collection[Any] = each.values() if isinstance(each, dict) else each
            left += [(f"{path}[]", value) for value in inside]
        elif type(each).__module__.startswith("steersman.") and not isinstance(each, Client):
            names = [*getattr(each, "__dict__", {})]
            for kind in type(each).__mro__:
                names += getattr(kind, "__slots__", ())
            left += [(f"{path}.{name}", getattr(each, name, None)) for name in names]
    return sizes


async def test_created_and_deleted_objects_leave_nothing_behind() -> None:
    run, counts = ChurnRun(), Counter[str]()

    def count(delta: Delta[Any]) -> None:
        counts[type(delta).__name__] += 1

    registration = run.informer.add_handler(count)
    async with run.informer.running():
        await run.is_finished.wait()

    assert counts == {"Added": ROUNDS * PER_ROUND, "Deleted": ROUNDS * PER_ROUND}
    assert (len(run.informer), len(registration), len(run.informer.decode_failures)) == (0, 0, 0)
    early, late = run.sizes[1], run.sizes[-1]
    assert {path: count for path, count in late.items() if count > early[path]} == {}
    assert early.total() < PER_ROUND
