"""Actors: the programs of a simulation, each of which can be killed.

The tasks that an actor starts belong to it: a task begins with a copy of its creator's context.
"""

import asyncio
from contextvars import Context, ContextVar

ACTOR: ContextVar["Actor | None"] = ContextVar("actor", default=None)


class Actor:
    """An operator or another program: its tasks end together."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dead = False
        # Its tasks when it was killed. References are kept: a task without any is closed, and its
        # ``finally`` blocks run, which those of a killed program never do.
        self.remains: list[object] = []

    def __repr__(self) -> str:
        return f"<Actor {self.name}{', dead' if self.is_dead else ''}>"

    def context(self) -> Context:
        """A context for the tasks of this actor."""
        context = Context()
        context.run(ACTOR.set, self)
        return context


def actor_in(context: Context | None) -> Actor | None:
    """The actor of this context; ``None`` in the test itself."""
    return ACTOR.get() if context is None else context.get(ACTOR)


class ActorTask(asyncio.Task[object]):
    """A task with its actor and a sequence number, which is its hash.

    Task groups store their tasks in sets, and cancel them in the order of the set. By default that
    is the order of memory addresses, which does not depend on the seed.
    """

    number: int
    actor: Actor | None

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return self is other
