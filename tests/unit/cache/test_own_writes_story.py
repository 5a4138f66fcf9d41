"""Any story, heard with any lag, and any answers to our own writes: we never see our own past.

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
from steersman.cache.flights import Flights, Ticket
from steersman.cache.own_writes import OwnWrites
from steersman.names import ObjectKey
from tests.unit.cache.things import Thing, thing

NAMES: tuple[str, ...] = ("one", "two")


class Moment(NamedTuple):
    """What was there from a revision on; no uid: nothing."""

    revision: int
    uid: str
    belongs: bool


class Asked(NamedTuple):
    """A write of ours that the server has carried out, and whose answer is on its way."""

    ticket: Ticket
    name: str
    done: Moment
    ended_uid: str
    last_version: str


NOTHING = Moment(0, "", False)


def key_of(name: str) -> ObjectKey:
    return ObjectKey("default", name)


class OwnWritesStory(RuleBasedStateMachine):
    """All objects are heard of."""

    is_limited = False
    lays_new = True

    asked = Bundle("asked")

    @initialize()
    def begin(self) -> None:
        self.shown = Indexer[Thing](failed=lambda *_: None, indexes={"namespace": by_namespace})
        self.flights = Flights()
        self.writes = OwnWrites[Thing](
            self.shown,
            is_limited=self.is_limited,
            lays_new=self.lays_new,
            flights=self.flights,
        )
        self.revision = 10
        self.uids = count(1)
        self.told: dict[str, list[Moment]] = {name: [NOTHING] for name in NAMES}
        self.heard_up_to = 10
        self.listing: tuple[int, dict[str, Moment]] | None = None
        self.known: dict[str, int] = dict.fromkeys(NAMES, 0)
        self.seen: dict[str, int] = dict.fromkeys(NAMES, 0)
        self.ended = set[str]()
        self.writing: list[Asked] = []
        self.under: dict[str, str] = {}
        self.deliver_list({}, 10, rewound=False)

    # What happens at the server

    def now(self, name: str) -> Moment:
        return self.told[name][-1]

    def write(self, name: str, uid: str, belongs: bool) -> Moment:
        self.revision += 1
        moment = Moment(self.revision, uid, belongs and bool(uid))
        self.told[name].append(moment)
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

    @rule(target=asked, name=st.sampled_from(NAMES), belongs=st.booleans())
    def we_write(self, name: str, belongs: bool) -> Asked:
        ticket = Ticket(self.flights).__enter__()
        asked = Asked(ticket, name, self.put(name, belongs), "", "")
        self.writing.append(asked)
        return asked

    @rule(
        target=asked,
        name=st.sampled_from(NAMES),
        said=st.sampled_from(("nothing", "last state", "own version")),
    )
    def we_delete(self, name: str, said: str) -> Asked:
        ticket = Ticket(self.flights).__enter__()
        last = self.now(name)
        if not last.uid:
            last = self.put(name, belongs=True)
        done = self.write(name, "", False)
        version = {
            "nothing": "",
            "last state": str(last.revision),
            "own version": str(done.revision),
        }[said]
        return Asked(ticket, name, done, last.uid, version)

    @rule(one=consumes(asked))
    def we_are_answered(self, one: Asked) -> None:
        self.writing = [each for each in self.writing if each is not one]
        if one.ended_uid:
            self.writes.ended(key_of(one.name), one.ended_uid, one.last_version, one.ticket)
        else:
            obj = self.as_thing(one.name, one.done)
            self.writes.wrote(obj, one.ticket, belongs=one.done.belongs or self.lays_by_server())
        is_void = one.ticket.is_void(self.writes)
        one.ticket.__exit__(None, None, None)
        if is_void:
            return
        if one.ended_uid and not one.last_version and (self.is_limited or self.is_overtaking(one)):
            # When it was is not known, and the story may never tell: others that had the name
            # before, and were never heard of, may still be told of.
            self.ended.add(one.ended_uid)
        else:
            self.known[one.name] = max(self.known[one.name], one.done.revision)

    def is_overtaking(self, end: Asked) -> bool:
        """Whether a write from before is still to be answered.

        Which of the two was first, nobody can tell who is told no version. That the write was is
        the rarer of the cases: somebody else has deleted what it made, and made what we deleted.
        """
        return any(
            each.name == end.name and each.done.revision < end.done.revision
            for each in self.writing
        )

    @rule(one=consumes(asked))
    def an_answer_is_lost(self, one: Asked) -> None:
        self.writing = [each for each in self.writing if each is not one]
        one.ticket.__exit__(None, None, None)

    def lays_by_server(self) -> bool:
        return not self.lays_new

    # What we hear

    @precondition(lambda self: self.listing is None and self.heard_up_to < self.revision)
    @rule()
    def the_next_thing_is_heard(self) -> None:
        self.heard_up_to += 1
        for name, moments in self.told.items():
            for moment in moments:
                if moment.revision == self.heard_up_to:
                    self.hear(name, moment)

    def hear(self, name: str, moment: Moment) -> None:
        before, version = self.under.get(name, ""), str(moment.revision)
        if before and (not moment.belongs or moment.uid != before):
            self.writes.heard_end(key_of(name), before)
            del self.under[name]
        if moment.belongs:
            self.writes.heard(self.as_thing(name, moment), key_of(name), version=version)
            self.under[name] = moment.uid
        elif before:
            self.writes.reached(version)

    @precondition(lambda self: self.listing is None)
    @rule()
    def a_bookmark_is_heard(self) -> None:
        self.writes.reached(str(self.heard_up_to))

    @precondition(lambda self: self.listing is None)
    @rule()
    def a_list_is_made(self) -> None:
        self.listing = self.revision, {name: self.now(name) for name in NAMES}

    @precondition(lambda self: self.listing is not None)
    @rule()
    def the_list_is_heard(self) -> None:
        assert self.listing is not None
        version, moments = self.listing
        self.listing = None
        self.deliver_list(moments, version, rewound=False)

    def deliver_list(self, moments: dict[str, Moment], version: int, *, rewound: bool) -> None:
        there: list[tuple[ObjectKey, Thing]] = []
        for name in NAMES:
            moment, before = moments.get(name, NOTHING), self.under.get(name, "")
            if before and (not moment.belongs or moment.uid != before):
                self.writes.heard_end(key_of(name), before)
                del self.under[name]
            if moment.belongs:
                there.append((key_of(name), self.as_thing(name, moment)))
                self.under[name] = moment.uid
        self.writes.heard_in_list(there)
        self.writes.replaced(str(version), rewound=rewound)
        self.heard_up_to = version

    @rule(back=st.integers(min_value=1, max_value=5))
    def the_server_is_restored(self, back: int) -> None:
        self.revision = max(10, self.revision - back)
        for name in NAMES:
            self.told[name] = [each for each in self.told[name] if each.revision <= self.revision]
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
            assert (version, found.uid) in [(each[0], each[1]) for each in self.told[name]]
            self.seen[name] = version

    def absent_since(self, name: str) -> int:
        # Where only the server knows what belongs, what is new is not there before it is heard.
        earliest = max(self.known[name] if self.lays_new else 0, self.seen[name])
        moments = self.told[name]
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
        """Once all is heard, nothing is laid over it."""
        if not hasattr(self, "shown"):
            return
        if self.listing is not None:
            self.the_list_is_heard()
        while self.heard_up_to < self.revision:
            self.the_next_thing_is_heard()
        self.a_bookmark_is_heard()
        for _ in range(2):
            self.a_list_is_made()
            self.the_list_is_heard()
        assert len(self.writes) == 0
        there = {name: self.now(name) for name in NAMES}
        assert {obj.name: obj.resource_version for obj in self.shown} == {
            name: str(moment.revision) for name, moment in there.items() if moment.belongs
        }


class LabelledStory(OwnWritesStory):
    """Those with some label are."""

    is_limited = True


class SelectedStory(OwnWritesStory):
    """Those are of which only the server knows why."""

    is_limited = True
    lays_new = False


LONG = settings(stateful_step_count=40)


@pytest.mark.hypothesis
@pytest.mark.parametrize("story", [OwnWritesStory, LabelledStory, SelectedStory])
def test_whatever_is_heard_and_answered_we_never_see_our_own_past(
    story: type[OwnWritesStory],
) -> None:
    run_state_machine_as_test(story, settings=LONG)
