"""For any history, lag and order of responses, reads never go back behind an own write.

The server has a list of revisions for each name. The object that the cache shows must be one of
them, not older than the responses to own writes and not older than the object shown before.
"""

from itertools import count
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from steersman.cache import Indexer, by_namespace
from steersman.cache.inflight_writes import InflightWrites, WriteToken
from steersman.cache.own_writes import OwnWrites
from steersman.names import ObjectKey
from tests.unit.cache.sample_objects import Thing, thing

NAMES: tuple[str, ...] = ("one", "two")


class Revision(NamedTuple):
    """The state of an object from a revision on; without a uid, there is none."""

    revision: int
    uid: str
    belongs: bool


class SentWrite(NamedTuple):
    """An own write that the server has done, and whose response has not arrived."""

    token: WriteToken
    name: str
    done: Revision
    ended_uid: str
    last_version: str


NOTHING = Revision(0, "", False)


def key_of(name: str) -> ObjectKey:
    return ObjectKey("default", name)


class OwnWritesMachine(RuleBasedStateMachine):
    """The cache has all objects."""

    is_limited = False
    overlays_new = True

    sent = Bundle("sent")

    @initialize()
    def begin(self) -> None:
        self.shown = Indexer[Thing](failed=lambda *_: None, indexes={"namespace": by_namespace})
        self.inflight = InflightWrites()
        self.writes = OwnWrites[Thing](
            self.shown,
            is_limited=self.is_limited,
            overlays_new=self.overlays_new,
            inflight=self.inflight,
        )
        self.revision = 10
        self.uids = count(1)
        self.history: dict[str, list[Revision]] = {name: [NOTHING] for name in NAMES}
        self.received_up_to = 10
        self.listing: tuple[int, dict[str, Revision]] | None = None
        self.known: dict[str, int] = dict.fromkeys(NAMES, 0)
        self.seen: dict[str, int] = dict.fromkeys(NAMES, 0)
        self.ended = set[str]()
        self.writing: list[SentWrite] = []
        self.under: dict[str, str] = {}
        self.deliver_list({}, 10, rewound=False)

    # The server

    def newest(self, name: str) -> Revision:
        return self.history[name][-1]

    def write(self, name: str, uid: str, belongs: bool) -> Revision:
        self.revision += 1
        state = Revision(self.revision, uid, belongs and bool(uid))
        self.history[name].append(state)
        return state

    def put(self, name: str, belongs: bool) -> Revision:
        """Create the object, or update it if it exists."""
        uid = self.newest(name).uid or f"uid-{next(self.uids)}"
        return self.write(name, uid, belongs or not self.is_limited)

    @rule(name=st.sampled_from(NAMES), belongs=st.booleans())
    def another_client_writes(self, name: str, belongs: bool) -> None:
        self.put(name, belongs)

    @rule(name=st.sampled_from(NAMES))
    def another_client_deletes(self, name: str) -> None:
        if self.newest(name).uid:
            self.write(name, "", False)

    @rule()
    def another_object_is_written(self) -> None:
        self.revision += 1

    # Own writes

    @rule(target=sent, name=st.sampled_from(NAMES), belongs=st.booleans())
    def the_operator_writes(self, name: str, belongs: bool) -> SentWrite:
        token = WriteToken(self.inflight).__enter__()
        sent = SentWrite(token, name, self.put(name, belongs), "", "")
        self.writing.append(sent)
        return sent

    @rule(
        target=sent,
        name=st.sampled_from(NAMES),
        returned=st.sampled_from(("nothing", "last state", "own version")),
    )
    def the_operator_deletes(self, name: str, returned: str) -> SentWrite:
        token = WriteToken(self.inflight).__enter__()
        last = self.newest(name)
        if not last.uid:
            last = self.put(name, belongs=True)
        done = self.write(name, "", False)
        version = {
            "nothing": "",
            "last state": str(last.revision),
            "own version": str(done.revision),
        }[returned]
        return SentWrite(token, name, done, last.uid, version)

    @rule(one=consumes(sent))
    def a_response_arrives(self, one: SentWrite) -> None:
        self.writing = [each for each in self.writing if each is not one]
        if one.ended_uid:
            self.writes.add_deletion(key_of(one.name), one.ended_uid, one.last_version, one.token)
        else:
            obj = self.as_thing(one.name, one.done)
            self.writes.add_write(obj, one.token, belongs=one.done.belongs or self.is_server_side())
        is_other_history = one.token.is_other_history(self.writes)
        one.token.__exit__(None, None, None)
        if is_other_history:
            return
        if one.ended_uid and not one.last_version and (self.is_limited or self.is_overtaking(one)):
            # The version of the deletion is unknown, and the watch may never report it:
            # predecessors of the same name may still be received.
            self.ended.add(one.ended_uid)
        else:
            self.known[one.name] = max(self.known[one.name], one.done.revision)

    def is_overtaking(self, end: SentWrite) -> bool:
        """Whether an earlier write has no response yet.

        Without a version, the order of the two cannot be determined. That the write was first is
        rare: another client must have deleted its object and created the one deleted here.
        """
        return any(
            each.name == end.name and each.done.revision < end.done.revision
            for each in self.writing
        )

    @rule(one=consumes(sent))
    def a_response_is_lost(self, one: SentWrite) -> None:
        self.writing = [each for each in self.writing if each is not one]
        one.token.__exit__(None, None, None)

    def is_server_side(self) -> bool:
        return not self.overlays_new

    # The watch

    @precondition(lambda self: self.listing is None and self.received_up_to < self.revision)
    @rule()
    def the_next_event_is_received(self) -> None:
        self.received_up_to += 1
        for name, states in self.history.items():
            for state in states:
                if state.revision == self.received_up_to:
                    self.receive(name, state)

    def receive(self, name: str, state: Revision) -> None:
        before, version = self.under.get(name, ""), str(state.revision)
        if before and (not state.belongs or state.uid != before):
            self.writes.received_deletion(key_of(name), before)
            del self.under[name]
        if state.belongs:
            self.writes.received(self.as_thing(name, state), key_of(name), version=version)
            self.under[name] = state.uid
        elif before:
            self.writes.advance_to(version)

    @precondition(lambda self: self.listing is None)
    @rule()
    def a_bookmark_is_received(self) -> None:
        self.writes.advance_to(str(self.received_up_to))

    @precondition(lambda self: self.listing is None)
    @rule()
    def the_reflector_lists(self) -> None:
        self.listing = self.revision, {name: self.newest(name) for name in NAMES}

    @precondition(lambda self: self.listing is not None)
    @rule()
    def the_list_is_received(self) -> None:
        assert self.listing is not None
        version, states = self.listing
        self.listing = None
        self.deliver_list(states, version, rewound=False)

    def deliver_list(self, states: dict[str, Revision], version: int, *, rewound: bool) -> None:
        there: list[tuple[ObjectKey, Thing]] = []
        for name in NAMES:
            state, before = states.get(name, NOTHING), self.under.get(name, "")
            if before and (not state.belongs or state.uid != before):
                self.writes.received_deletion(key_of(name), before)
                del self.under[name]
            if state.belongs:
                there.append((key_of(name), self.as_thing(name, state)))
                self.under[name] = state.uid
        self.writes.received_list(there)
        self.writes.finish_list(str(version), rewound=rewound)
        self.received_up_to = version

    @rule(back=st.integers(min_value=1, max_value=5))
    def the_server_is_restored(self, back: int) -> None:
        self.revision = max(10, self.revision - back)
        for name in NAMES:
            self.history[name] = [
                each for each in self.history[name] if each.revision <= self.revision
            ]
            self.known[name] = self.seen[name] = 0
        self.ended.clear()
        self.listing = None
        self.deliver_list({name: self.newest(name) for name in NAMES}, self.revision, rewound=True)
        # The same revisions have other contents in the restored history.
        self.uids = count(next(self.uids) + 1000)

    # The objects that readers get

    def as_thing(self, name: str, state: Revision) -> Thing:
        return thing(name, version=state.revision, uid=state.uid)

    @invariant()
    def no_shown_object_is_older_than_an_own_write(self) -> None:
        if not hasattr(self, "shown"):
            return
        for name in NAMES:
            found = self.shown.get(key_of(name))
            if found is None:
                self.seen[name] = self.absent_since(name)
                continue
            version = int(found.resource_version)
            assert found.uid not in self.ended
            assert version >= max(self.known[name], self.seen[name])
            assert (version, found.uid) in [(each[0], each[1]) for each in self.history[name]]
            self.seen[name] = version

    def absent_since(self, name: str) -> int:
        # If only the server can evaluate the selector, a new object appears with its event.
        earliest = max(self.known[name] if self.overlays_new else 0, self.seen[name])
        states = self.history[name]
        start = max(index for index, each in enumerate(states) if each.revision <= earliest)
        for state in states[start:]:
            if not state.belongs:
                return max(earliest, state.revision)
        raise AssertionError(f"{name} was always there since {earliest}, and is not shown")

    @invariant()
    def the_index_has_the_same_objects(self) -> None:
        if hasattr(self, "shown"):
            assert {each.name for each in self.shown.by_index("namespace", "default")} == {
                each.name for each in self.shown
            }

    def teardown(self) -> None:
        """Once all events are received, no overlay is left."""
        if not hasattr(self, "shown"):
            return
        if self.listing is not None:
            self.the_list_is_received()
        while self.received_up_to < self.revision:
            self.the_next_event_is_received()
        self.a_bookmark_is_received()
        for _ in range(2):
            self.the_reflector_lists()
            self.the_list_is_received()
        assert len(self.writes) == 0
        there = {name: self.newest(name) for name in NAMES}
        assert {obj.name: obj.resource_version for obj in self.shown} == {
            name: str(state.revision) for name, state in there.items() if state.belongs
        }


class LabelledMachine(OwnWritesMachine):
    """The cache has the objects with some label."""

    is_limited = True


class SelectedMachine(OwnWritesMachine):
    """The cache has objects by a selector that only the server can evaluate."""

    is_limited = True
    overlays_new = False


LONG = settings(stateful_step_count=40)


@pytest.mark.hypothesis
@pytest.mark.parametrize("machine", [OwnWritesMachine, LabelledMachine, SelectedMachine])
def test_reads_never_go_back_behind_an_own_write(
    machine: type[OwnWritesMachine],
) -> None:
    run_state_machine_as_test(machine, settings=LONG)
