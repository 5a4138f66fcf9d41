"""Actors: the programs in a simulation, each of which a test can kill.

A new task belongs to the actor of the code that creates it: asyncio gives the task a copy of the
current context, and a context variable stores the actor.
"""

import asyncio
from contextvars import Context, ContextVar

ACTOR: ContextVar["Actor | None"] = ContextVar("actor", default=None)


class Actor:
    """An operator or another program in a simulation: all its tasks end together."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dead = False
        # Its tasks when it was killed. References are kept: a task without any is closed, and its
        # ``finally`` blocks run, which those of a killed program never do.
        self.remains: list[object] = []

    def __repr__(self) -> str:
        return f"<Actor {self.name}{', dead' if self.is_dead else ''}>"

    def context(self) -> Context:
        """Return a new context; a task that is created with this context belongs to this actor."""
        context = Context()
        context.run(ACTOR.set, self)
        return context


def actor_in(context: Context | None) -> Actor | None:
    """Return the actor of ``context``, or of the current context if ``context`` is ``None``.

    The result is ``None`` in the test's own tasks, which belong to no actor.
    """
    return ACTOR.get() if context is None else context.get(ACTOR)


class ActorTask(asyncio.Task[object]):
    """A task that stores its actor and a sequence number; the sequence number is its hash.

    Task groups store their tasks in sets, and cancel the tasks in the iteration order of the set.
    For asyncio's own tasks, that order depends on memory addresses; with sequence numbers as
    hashes, it is the same in each execution of the simulation.
    """

    number: int
    actor: Actor | None

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return self is other
