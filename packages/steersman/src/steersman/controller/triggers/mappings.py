"""Mappings: asking the author's function whom a change of another object is about.

A function that raises is asked again, later and later, with the object's last known state, until it
answers or the object is gone; about an object that is gone it is asked a few times more, because
those it was about must be woken too. Of whatever has been answered, nothing is kept.
"""

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

import msgspec

from steersman.cache import Deleted, Delta, Updated
from steersman.clock import Clock
from steersman.controller.cache_reader import CacheReader
from steersman.controller.declaration.watches import Mapper
from steersman.controller.triggers.keys import keys_in
from steersman.controller.triggers.source_runner import Add
from steersman.errors import AUTHOR_ERRORS, failure_of
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey, ResourceType
from steersman.observe import Why, ignore
from steersman.workqueue import BackoffPolicy, KeyBackoff, WorkQueue

Object: TypeAlias = Resource | Unstructured
# A kind, which of the watches of the controller, and an object.
Place: TypeAlias = tuple[ResourceType, int, ObjectKey]

# Five minutes at most, as for a reconcile that fails.
_BACKOFF = BackoffPolicy(first_seconds=0.1, longest_seconds=300.0)

# So often a function is asked about an object that is gone, which takes a minute. Nobody will
# change that object any more, and its last state is kept for nothing else.
TRIES_WHEN_GONE = 10

# Of an object that is made and deleted over and over, no more than so many last states.
_MOST_STATES = 4

# After so many retries in a row, everybody else gets a turn.
_TURN = 50


class Question(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Whom is this about? ``before`` are earlier states, about which nobody has answered either."""

    to: Mapper[Any]
    kind: ResourceType
    watch: int
    key: ObjectKey
    before: tuple[Object, ...]
    obj: Object
    is_gone: bool
    why: Why
    priority: int
    tries: int = 0

    @property
    def place(self) -> Place:
        """Which object it is about."""
        return self.kind, self.watch, self.key

    def again(self) -> "Question":
        """The same, asked once more."""
        why = Why(
            about=self.why.about,
            event="mapped",
            version=self.why.version,
            find_changes=self.why.find_changes,
        )
        return msgspec.structs.replace(self, why=why, tries=self.tries + 1)


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """Nobody knows whom it is about: the function raised; ``None`` seconds if that was the last."""

    question: Question
    error: Exception
    wait_seconds: float | None


class Mappings:
    """Asks, wakes those that are meant, and remembers what could not be answered."""

    def __init__(
        self,
        kind: ResourceType,
        *,
        controller: str,
        cached: CacheReader,
        add: Add,
        clock: Clock,
        rng: Random,
        failed: Callable[[Failed], None],
    ) -> None:
        self._kind = kind
        self._cached = cached
        self._add = add
        self._clock = clock
        self._failed = failed
        self._open: dict[Place, Question] = {}
        self._backoff: KeyBackoff[Place] = KeyBackoff(_BACKOFF, rng=rng)
        # Nobody is told of this queue: what is in it, and for how long, TriggerFailed says.
        self._retries: WorkQueue[Place] = WorkQueue(
            f"{controller} mappings", limiter=self._backoff, clock=clock, observe=ignore
        )

    def __len__(self) -> int:
        """How many objects there are about which nobody has answered."""
        return len(self._open)

    def is_open(self, kind: ResourceType, watch: int, key: ObjectKey) -> bool:
        """Whether a question of this watch about this object has not been answered."""
        return bool(self._open) and (kind, watch, key) in self._open

    def changed(
        self,
        kind: ResourceType,
        watch: int,
        delta: Delta[Any],
        to: Mapper[Any],
        why: Why,
        priority: int,
    ) -> None:
        """Ask about a change of an object of this other kind."""
        before: tuple[Object, ...] = (delta.old,) if type(delta) is Updated else ()
        is_gone = type(delta) is Deleted
        asked = self._open.get((kind, watch, delta.key)) if self._open else None
        if asked is not None:
            # What was between the state that was last answered for and this one is past: only what
            # ended with its object is still to be told to those it was about.
            before = (*asked.before, asked.obj) if asked.is_gone else asked.before
            priority = max(priority, asked.priority)
            if is_gone:
                self._backoff.forget(asked.place)
        question = Question(
            to=to,
            kind=kind,
            watch=watch,
            key=delta.key,
            before=before[-_MOST_STATES:],
            obj=delta.obj,
            is_gone=is_gone,
            why=why,
            priority=priority,
        )
        self._ask(question)

    async def retrying(self) -> None:
        """Ask again what could not be answered, for ever."""
        turn = 0
        while True:
            async with self._retries.take() as place:
                question = self._open.get(place)
                if question is not None:
                    self._ask(question.again())
            turn += 1
            if turn % _TURN == 0:
                await self._clock.sleep(0)

    def _ask(self, question: Question) -> None:
        keys, error = self._answers(question)
        for key in keys:
            self._add(key, question.why, question.priority)
        if error is None:
            self._close(question)
        elif question.is_gone and question.tries + 1 >= TRIES_WHEN_GONE:
            self._close(question)
            self._failed(Failed(question=question, error=error, wait_seconds=None))
        else:
            self._open[question.place] = question
            wait_seconds = self._backoff.wait_seconds(question.place)
            self._retries.add_after(question.place, wait_seconds)
            self._failed(Failed(question=question, error=error, wait_seconds=wait_seconds))

    def _answers(self, question: Question) -> tuple[dict[ObjectKey, None], Exception | None]:
        """Whom all states are about, and what went wrong with one of them."""
        keys: dict[ObjectKey, None] = {}
        error: Exception | None = None
        for state in (*question.before, question.obj):
            try:
                keys |= keys_in(question.to(state, self._cached), self._kind)
            except AUTHOR_ERRORS as raised:
                error = failure_of(raised)
        return keys, error

    def _close(self, question: Question) -> None:
        if self._open and self._open.pop(question.place, None) is not None:
            self._backoff.forget(question.place)
