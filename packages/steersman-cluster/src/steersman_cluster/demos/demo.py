"""``Demo``: an example's operator, the kinds to show, and the steps."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from steersman.kinds import Resource
from steersman.manager import Manager
from steersman_cluster.demos.context import DemoContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """An operator, the kinds to show, and the steps that change their objects.

    Objects of ``kinds`` are shown together with the objects that they own. The owned objects that
    are shown are of the kinds that the manager's controllers watch, and of the kinds in ``below``.
    List in ``below`` what runnables create, because they do not declare it. The operator's own
    kinds are installed before the first step.
    """

    title: str
    manager: Manager
    kinds: tuple[type[Resource], ...]
    steps: Callable[[DemoContext], Awaitable[None]]
    below: tuple[type[Resource], ...] = ()
