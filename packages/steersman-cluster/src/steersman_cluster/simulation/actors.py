"""Actors: the programs of a simulation, each of which can be killed.

A new task belongs to the actor that creates it, because asyncio gives the task a copy of the
current context, and the actor is a variable of this context.
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
    """The actor of ``context``, by default of the current context; ``None`` in the test itself."""
    return ACTOR.get() if context is None else context.get(ACTOR)


class ActorTask(asyncio.Task[object]):
    """A task with its actor and a sequence number, which is its hash.

    Task groups store their tasks in sets, and cancel them in the order of the set. With asyncio's
    own tasks, this order depends on memory addresses; with sequence numbers, it is the same in each
    run.
    """

    number: int
    actor: Actor | None

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return self is other
