"""For any sequence of events, the deltas follow the server's history in order."""

from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from steersman.cache.delta_fifo import (
    Added,
    Deleted,
    DeltaFifo,
    NotDecoded,
    Popped,
    Progress,
    Replaced,
    Sync,
    Updated,
)
from steersman.kinds import Unstructured
from steersman.names import ObjectKey
from steersman.watch import key_of
from tests.unit.cache.sample_objects import Thing, as_unstructured, by_key, thing, undecodable

NAMES = ("a", "b", "c", "d")


class State(NamedTuple):
    """An object on the server; ``size`` differs between histories."""

    uid: str
    version: int
    is_decodable: bool
    size: int = 0


class Event(NamedTuple):
    """An event of the watch; ``version`` is that of the deletion if ``is_gone``."""

    version: int
    name: str
    state: State
    is_gone: bool


Snapshot = dict[str, State]


class Server:
    """A history of writes, which can be rewound and continued differently, as after a restore."""

    def __init__(self) -> None:
        self.version = 10
        self.states: dict[int, Snapshot] = {10: {}}
        self.events: list[Event] = []
        self.batches: set[int] = set()
        self.rewinds = 0
        self._uids = 0

    @property
    def now(self) -> Snapshot:
        return self.states[self.version]

    def write(self, name: str, *, is_decodable: bool) -> None:
        there = self.now.get(name)
        self.version += 1
        uid = there.uid if there else self._new_uid(name)
        state = State(uid, self.version, is_decodable, size=self.rewinds)
        self.states[self.version] = {**self.states[self.version - 1], name: state}
        self.events.append(Event(self.version, name, state, is_gone=False))

    def delete(self, names: set[str]) -> None:
        """Delete all at one version, as etcd does when a lease expires."""
        before = self.now
        self.version += 1
        self.states[self.version] = {
            name: state for name, state in before.items() if name not in names
        }
        gone = sorted(names & set(before))
        if len(gone) > 1:
            self.batches.add(self.version)
        for name in gone:
            last = before[name]._replace(version=self.version)
            self.events.append(Event(self.version, name, last, is_gone=True))

    def rewound_to(self, version: int) -> "Server":
        earlier = Server()
        earlier.version = version
        earlier.states = {at: state for at, state in self.states.items() if at <= version}
        earlier.events = [event for event in self.events if event.version <= version]
        earlier.batches = self.batches.copy()
        earlier.rewinds = self.rewinds + 1
        earlier._uids = self._uids
        return earlier

    def _new_uid(self, name: str) -> str:
        self._uids += 1
        return f"{name}-{self._uids}"


class Informer:
    """Applies the deltas, and fails if one does not follow from the previous ones."""

    def __init__(self, warmed: dict[ObjectKey, Any]) -> None:
        self.objects: dict[ObjectKey, Any] = dict(warmed)
        self.not_decoded: dict[ObjectKey, NotDecoded] = {}
        self.position = 0
        self.lists = 0
        self.rewinds = 0

    def apply(self, popped: Popped[Any]) -> None:
        if isinstance(popped, Replaced):
            assert popped.is_first == (self.lists == 0)
            for delta in popped.deltas:
                assert not isinstance(delta, Added) or delta.is_initial == popped.is_first
                self._apply(delta)
            for failure in popped.decode_failures:
                self._set_undecodable(failure)
            self.lists += 1
            self.rewinds += popped.rewound
            if popped.rewound:
                self.position = 0
        elif isinstance(popped, NotDecoded):
            self._set_undecodable(popped)
        elif not isinstance(popped, Progress):
            assert not (isinstance(popped, Added) and popped.is_initial)
            self._apply(popped)
        if popped.version:
            assert int(popped.version) >= self.position
            self.position = int(popped.version)

    def _apply(self, delta: Added[Any] | Updated[Any] | Deleted[Any] | Sync[Any]) -> None:
        assert key_of(delta.obj) == delta.key
        match delta:
            case Added(obj, key):
                assert key not in self.objects
                self.objects[key] = obj
                self.not_decoded.pop(key, None)
            case Updated(old, obj, key):
                assert self.objects[key] is old
                assert old.uid in (obj.uid, "")
                self.objects[key] = obj
                self.not_decoded.pop(key, None)
            case Deleted(obj, key, is_missed=is_missed):
                last = self.objects.pop(key)
                assert obj is last if is_missed else last.uid in (obj.uid, "")
            case Sync(obj, key):
                assert self.objects[key] is obj

    def _set_undecodable(self, failure: NotDecoded) -> None:
        kept = self.not_decoded.pop(failure.key, None)
        if not failure.is_gone:
            assert kept is None or kept.version != failure.version
            self.not_decoded[failure.key] = failure


class FifoMachine(RuleBasedStateMachine):
    """A server, a reflector with duplicate and late events, and an informer."""

    unstructured = False

    def __init__(self) -> None:
        super().__init__()
        self.histories = [Server()]
        self.fifo: DeltaFifo[Any] = DeltaFifo()
        self.informer = Informer({})
        self.received = 0
        self.has_listed = False

    @property
    def server(self) -> Server:
        return self.histories[-1]

    @property
    def followed_server(self) -> Server:
        """The server of whose history the informer has received so far."""
        return self.histories[self.informer.rewinds]

    @initialize(names=st.sets(st.sampled_from(NAMES)))
    def warm(self, names: set[str]) -> None:
        objects = [self.as_sent(name, State("", 0, True)) for name in sorted(names)]
        self.fifo.warm_up(objects)
        self.informer = Informer({key_of(obj): obj for obj in objects})

    @rule(name=st.sampled_from(NAMES), is_decodable=st.sampled_from((True, True, True, False)))
    def a_client_writes(self, name: str, is_decodable: bool) -> None:
        self.server.write(name, is_decodable=is_decodable)

    @rule(names=st.sets(st.sampled_from(NAMES), min_size=1, max_size=2))
    def a_client_deletes(self, names: set[str]) -> None:
        self.server.delete(names)

    @rule(name=st.sampled_from(NAMES))
    def a_client_recreates(self, name: str) -> None:
        self.server.delete({name})
        self.server.write(name, is_decodable=True)

    @rule()
    def the_reflector_lists(self) -> None:
        self.record_list(self.server.version, rewound=False)
        self.received = len(self.server.events)

    @precondition(lambda self: self.has_listed)
    @rule(back=st.integers(1, 5))
    def a_late_list_arrives(self, back: int) -> None:
        position = int(self.fifo.position)
        if position - back in self.server.states:
            self.record_list(position - back, rewound=False)

    @precondition(lambda self: self.has_listed)
    @rule(count=st.integers(1, 6))
    def the_reflector_receives_events(self, count: int) -> None:
        for event in self.server.events[self.received : self.received + count]:
            self.receive(event)
            self.received += 1

    @precondition(lambda self: self.has_listed and self.received)
    @rule(back=st.integers(1, 8))
    def the_reflector_receives_a_duplicate(self, back: int) -> None:
        self.receive(self.server.events[max(0, self.received - back)])

    @precondition(lambda self: self.has_listed)
    @rule()
    def the_reflector_receives_a_bookmark(self) -> None:
        if self.received == len(self.server.events):
            self.fifo.progress(str(self.server.version))
        else:
            self.fifo.progress(str(self.server.events[self.received].version - 1))

    @precondition(lambda self: self.has_listed)
    @rule(back=st.integers(0, 6), name=st.sampled_from(NAMES), writes=st.booleans())
    def the_history_is_rewound(self, back: int, name: str, writes: bool) -> None:
        self.histories.append(self.server.rewound_to(max(10, self.server.version - back)))
        if writes:
            self.server.write(name, is_decodable=True)
        self.record_list(self.server.version, rewound=True)
        self.received = len(self.server.events)

    @rule(names=st.none() | st.sets(st.sampled_from(NAMES)))
    def a_resync_is_requested(self, names: set[str] | None) -> None:
        keys = None if names is None else [ObjectKey("default", name) for name in names]
        self.fifo.sync(keys)

    @rule(count=st.integers(1, 5))
    def the_informer_pops(self, count: int) -> None:
        for _ in range(count):
            popped = self.fifo.pop()
            if popped is None:
                break
            self.informer.apply(popped)
            if popped.version and int(popped.version) not in self.followed_server.batches:
                self.assert_state_at(int(popped.version))

    @rule()
    def the_informer_drains(self) -> None:
        for popped in self.fifo.drain():
            self.informer.apply(popped)
        assert len(self.fifo) == 0
        assert dict(self.fifo.known) == self.informer.objects
        assert {key: kept.version for key, kept in self.fifo.decode_failures.items()} == {
            key: kept.version for key, kept in self.informer.not_decoded.items()
        }

    def teardown(self) -> None:
        if self.has_listed:
            self.the_reflector_receives_events(len(self.server.events))
            self.the_informer_drains()
            self.assert_state_at(self.server.version)

    def assert_state_at(self, version: int) -> None:
        """The informer has the objects that the server had at ``version``."""
        there = self.followed_server.states[version].items()
        keys = {ObjectKey("default", name): state for name, state in there}
        for key, state in keys.items():
            found = self.informer.objects.get(key)
            if state.is_decodable:
                assert found == self.as_sent(key.name, state)
                assert key not in self.informer.not_decoded
            else:
                assert self.informer.not_decoded[key].version == str(state.version)
                assert found is None or found.uid in (state.uid, "")
        assert self.informer.objects.keys() <= keys.keys()
        assert self.informer.not_decoded.keys() <= keys.keys()

    def receive(self, event: Event) -> None:
        if not event.state.is_decodable:
            error = undecodable(event.name, version=event.version, uid=event.state.uid)
            self.fifo.decode_failed(error, str(event.version), is_gone=event.is_gone)
        elif event.is_gone:
            self.fifo.delete(self.as_sent(event.name, event.state))
        else:
            self.fifo.upsert(self.as_sent(event.name, event.state))

    def record_list(self, version: int, *, rewound: bool) -> None:
        self.has_listed = True
        there = self.server.states[version].items()
        good = [self.as_sent(name, state) for name, state in there if state.is_decodable]
        bad = [
            undecodable(name, version=state.version, uid=state.uid)
            for name, state in there
            if not state.is_decodable
        ]
        self.fifo.replace(by_key(good), bad, str(version), rewound=rewound)

    def as_sent(self, name: str, state: State) -> Thing | Unstructured:
        obj = thing(name, version=state.version or "", uid=state.uid or None, size=state.size)
        return as_unstructured(obj) if self.unstructured else obj


class UnstructuredMachine(FifoMachine):
    """The same with unstructured objects."""

    unstructured = True


@pytest.mark.hypothesis
@pytest.mark.parametrize("machine", [FifoMachine, UnstructuredMachine])
def test_the_deltas_follow_the_servers_history_whatever_the_reflector_receives(
    machine: type[FifoMachine],
) -> None:
    run_state_machine_as_test(machine, settings=settings(stateful_step_count=40))
