"""Any history, received with any lag, and any answers to our own writes: we never see our own past.

The server is a list of moments for each name. What is shown must have been so at a moment that is
no earlier than what our writes were answered with, and no earlier than what was shown before.
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
from tests.unit.cache.things import Thing, thing

NAMES: tuple[str, ...] = ("one", "two")


class Moment(NamedTuple):
    """What was there from a revision on; no uid: nothing."""

    revision: int
    uid: str
    belongs: bool


class SentWrite(NamedTuple):
    """A write of ours that the server has carried out, and whose answer is on its way."""

    token: WriteToken
    name: str
    done: Moment
    ended_uid: str
    last_version: str


NOTHING = Moment(0, "", False)


def key_of(name: str) -> ObjectKey:
    return ObjectKey("default", name)


class OwnWritesMachine(RuleBasedStateMachine):
    """All objects are received."""

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
        self.history: dict[str, list[Moment]] = {name: [NOTHING] for name in NAMES}
        self.received_up_to = 10
        self.listing: tuple[int, dict[str, Moment]] | None = None
        self.known: dict[str, int] = dict.fromkeys(NAMES, 0)
        self.seen: dict[str, int] = dict.fromkeys(NAMES, 0)
        self.ended = set[str]()
        self.writing: list[SentWrite] = []
        self.under: dict[str, str] = {}
        self.deliver_list({}, 10, rewound=False)

    # What happens at the server

    def now(self, name: str) -> Moment:
        return self.history[name][-1]

    def write(self, name: str, uid: str, belongs: bool) -> Moment:
        self.revision += 1
        moment = Moment(self.revision, uid, belongs and bool(uid))
        self.history[name].append(moment)
        return moment

    def put(self, name: str, belongs: bool) -> Moment:
        """Created, or changed if it is there."""
        uid = self.now(name).uid or f"uid-{next(self.uids)}"
        return self.write(name, uid, belongs or not self.is_limited)

    @rule(name=st.sampled_from(NAMES), belongs=st.booleans())
    def a_stranger_writes(self, name: str, belongs: bool) -> None:
        self.put(name, belongs)

    @rule(name=st.sampled_from(NAMES))
    def a_stranger_deletes(self, name: str) -> None:
        if self.now(name).uid:
            self.write(name, "", False)

    @rule()
    def something_else_happens(self) -> None:
        self.revision += 1

    # What we do

    @rule(target=sent, name=st.sampled_from(NAMES), belongs=st.booleans())
    def we_write(self, name: str, belongs: bool) -> SentWrite:
        token = WriteToken(self.inflight).__enter__()
        sent = SentWrite(token, name, self.put(name, belongs), "", "")
        self.writing.append(sent)
        return sent

    @rule(
        target=sent,
        name=st.sampled_from(NAMES),
        said=st.sampled_from(("nothing", "last state", "own version")),
    )
    def we_delete(self, name: str, said: str) -> SentWrite:
        token = WriteToken(self.inflight).__enter__()
        last = self.now(name)
        if not last.uid:
            last = self.put(name, belongs=True)
        done = self.write(name, "", False)
        version = {
            "nothing": "",
            "last state": str(last.revision),
            "own version": str(done.revision),
        }[said]
        return SentWrite(token, name, done, last.uid, version)

    @rule(one=consumes(sent))
    def we_are_answered(self, one: SentWrite) -> None:
        self.writing = [each for each in self.writing if each is not one]
        if one.ended_uid:
            self.writes.add_deletion(key_of(one.name), one.ended_uid, one.last_version, one.token)
        else:
            obj = self.as_thing(one.name, one.done)
            self.writes.add_write(obj, one.token, belongs=one.done.belongs or self.lays_by_server())
        is_other_history = one.token.is_other_history(self.writes)
        one.token.__exit__(None, None, None)
        if is_other_history:
            return
        if one.ended_uid and not one.last_version and (self.is_limited or self.is_overtaking(one)):
            # When it was is not known, and the watch may never report it: others that had the name
            # before, and were never received, may still be received.
            self.ended.add(one.ended_uid)
        else:
            self.known[one.name] = max(self.known[one.name], one.done.revision)

    def is_overtaking(self, end: SentWrite) -> bool:
        """Whether a write from before is still to be answered.

        Which of the two was first, cannot be decided without a version. That the write was is
        the rarer of the cases: another client has deleted what it made, and made what we deleted.
        """
        return any(
            each.name == end.name and each.done.revision < end.done.revision
            for each in self.writing
        )

    @rule(one=consumes(sent))
    def an_answer_is_lost(self, one: SentWrite) -> None:
        self.writing = [each for each in self.writing if each is not one]
        one.token.__exit__(None, None, None)

    def lays_by_server(self) -> bool:
        return not self.overlays_new

    # What we receive

    @precondition(lambda self: self.listing is None and self.received_up_to < self.revision)
    @rule()
    def the_next_thing_is_received(self) -> None:
        self.received_up_to += 1
        for name, moments in self.history.items():
            for moment in moments:
                if moment.revision == self.received_up_to:
                    self.receive(name, moment)

    def receive(self, name: str, moment: Moment) -> None:
        before, version = self.under.get(name, ""), str(moment.revision)
        if before and (not moment.belongs or moment.uid != before):
            self.writes.received_deletion(key_of(name), before)
            del self.under[name]
        if moment.belongs:
            self.writes.received(self.as_thing(name, moment), key_of(name), version=version)
            self.under[name] = moment.uid
        elif before:
            self.writes.advance_to(version)

    @precondition(lambda self: self.listing is None)
    @rule()
    def a_bookmark_is_received(self) -> None:
        self.writes.advance_to(str(self.received_up_to))

    @precondition(lambda self: self.listing is None)
    @rule()
    def a_list_is_made(self) -> None:
        self.listing = self.revision, {name: self.now(name) for name in NAMES}

    @precondition(lambda self: self.listing is not None)
    @rule()
    def the_list_is_received(self) -> None:
        assert self.listing is not None
        version, moments = self.listing
        self.listing = None
        self.deliver_list(moments, version, rewound=False)

    def deliver_list(self, moments: dict[str, Moment], version: int, *, rewound: bool) -> None:
        there: list[tuple[ObjectKey, Thing]] = []
        for name in NAMES:
            moment, before = moments.get(name, NOTHING), self.under.get(name, "")
            if before and (not moment.belongs or moment.uid != before):
                self.writes.received_deletion(key_of(name), before)
                del self.under[name]
            if moment.belongs:
                there.append((key_of(name), self.as_thing(name, moment)))
                self.under[name] = moment.uid
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
        self.deliver_list({name: self.now(name) for name in NAMES}, self.revision, rewound=True)
        # From here on it is another history, in which the same revisions mean something else.
        self.uids = count(next(self.uids) + 1000)

    # What is shown

    def as_thing(self, name: str, moment: Moment) -> Thing:
        return thing(name, version=moment.revision, uid=moment.uid)

    @invariant()
    def nothing_that_is_shown_is_our_past(self) -> None:
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
        # Where only the server knows what belongs, what is new is not there before it is received.
        earliest = max(self.known[name] if self.overlays_new else 0, self.seen[name])
        moments = self.history[name]
        start = max(index for index, each in enumerate(moments) if each.revision <= earliest)
        for moment in moments[start:]:
            if not moment.belongs:
                return max(earliest, moment.revision)
        raise AssertionError(f"{name} was always there since {earliest}, and is not shown")

    @invariant()
    def the_index_says_the_same(self) -> None:
        if hasattr(self, "shown"):
            assert {each.name for each in self.shown.by_index("namespace", "default")} == {
                each.name for each in self.shown
            }

    def teardown(self) -> None:
        """Once all is received, no overlay is left."""
        if not hasattr(self, "shown"):
            return
        if self.listing is not None:
            self.the_list_is_received()
        while self.received_up_to < self.revision:
            self.the_next_thing_is_received()
        self.a_bookmark_is_received()
        for _ in range(2):
            self.a_list_is_made()
            self.the_list_is_received()
        assert len(self.writes) == 0
        there = {name: self.now(name) for name in NAMES}
        assert {obj.name: obj.resource_version for obj in self.shown} == {
            name: str(moment.revision) for name, moment in there.items() if moment.belongs
        }


class LabelledMachine(OwnWritesMachine):
    """Those with some label are."""

    is_limited = True


class SelectedMachine(OwnWritesMachine):
    """Those are of which only the server knows why."""

    is_limited = True
    overlays_new = False


LONG = settings(stateful_step_count=40)


@pytest.mark.hypothesis
@pytest.mark.parametrize("machine", [OwnWritesMachine, LabelledMachine, SelectedMachine])
def test_reads_never_go_back_behind_an_own_write(
    machine: type[OwnWritesMachine],
) -> None:
    run_state_machine_as_test(machine, settings=LONG)
