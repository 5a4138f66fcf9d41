"""Actors: who does what in a simulation, and what it means that one of them is killed.

Whatever an actor starts belongs to it, because a task begins with a copy of its maker's context.
"""

import asyncio
from contextvars import Context, ContextVar

ACTOR: ContextVar["Actor | None"] = ContextVar("actor", default=None)


class Actor:
    """An operator, or another program: its tasks live and die together."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dead = False
        # Where its tasks stood when it was killed. They are kept: a task that nobody holds any
        # more is closed, and its ``finally`` blocks run, which those of a dead program never do.
        self.remains: list[object] = []

    def __repr__(self) -> str:
        return f"<Actor {self.name}{', dead' if self.is_dead else ''}>"

    def context(self) -> Context:
        """What a task is started in that belongs to this actor."""
        context = Context()
        context.run(ACTOR.set, self)
        return context


def actor_in(context: Context | None) -> Actor | None:
    """To whom what runs in this context belongs; to nobody, if it is the test itself."""
    return ACTOR.get() if context is None else context.get(ACTOR)


class ActorTask(asyncio.Task[object]):
    """A task that knows its actor, and its number.

    Groups keep their tasks in sets, and cancel them in the order of the sets: by default that of
    memory addresses, which no seed decides.
    """

    number: int
    actor: Actor | None

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return self is other
