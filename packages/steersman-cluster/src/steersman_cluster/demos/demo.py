"""``Demo``: what is shown of an example, and the steps that is told meanwhile."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from steersman.kinds import Resource
from steersman.manager import Manager
from steersman_cluster.demos.context import DemoContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """An operator, the kinds to look at, and what happens to their objects.

    Objects of ``kinds`` are shown with all that they own, of the kinds that the manager's
    controllers follow and of those in ``below``: a manager of runnables does not say what it
    makes. Kinds of one's own are installed before anything else happens.
    """

    title: str
    manager: Manager
    kinds: tuple[type[Resource], ...]
    steps: Callable[[DemoContext], Awaitable[None]]
    below: tuple[type[Resource], ...] = ()
