"""``Demo``: an example's operator, the kinds of objects to show, and the demo's steps."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from steersman.kinds import Resource
from steersman.manager import Manager
from steersman_cluster.demos.context import DemoContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """An example's operator, the kinds of objects to show, and the steps that change objects.

    The demo shows the objects of ``kinds``, together with the objects that they own. Owned objects
    are shown if their kind is watched by a controller of the manager, or is in ``below``. List in
    ``below`` the kinds that runnables create, because runnables do not declare them. The operator's
    own kinds are installed before the first step.
    """

    title: str
    manager: Manager
    kinds: tuple[type[Resource], ...]
    steps: Callable[[DemoContext], Awaitable[None]]
    below: tuple[type[Resource], ...] = ()
