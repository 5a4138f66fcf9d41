"""``Installation``: an operator as it is to be installed, as one frozen value."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from steersman.controller import Controller
from steersman.kinds import CustomResource


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The controllers of an operator, and where and as what they will run.

    ``namespaces`` are those that it looks after; all of the cluster, if there are none.
    """

    name: str
    controllers: tuple[Controller[Any], ...]
    image: str
    version: str
    namespaces: tuple[str, ...] = ()
    # Two, of which one acts: when a node goes, the other takes over within a lease.
    replicas: int = 2
    # For people who look at it in a catalog.
    title: str = ""
    description: str = ""
    maintainers: tuple[tuple[str, str], ...] = ()  # name and e-mail

    @property
    def namespace(self) -> str:
        """Where the operator itself runs."""
        return f"{self.name}-system"

    @property
    def kinds(self) -> tuple[type[CustomResource[Any, Any]], ...]:
        """The kinds that come with it: those of its controllers that nobody else defines."""
        return tuple(_own(each.kind for each in self.controllers))


def _own(kinds: Iterable[type[Any]]) -> Iterable[type[CustomResource[Any, Any]]]:
    # A controller of a kind that exists elsewhere brings nothing along.
    seen: dict[type[Any], None] = {}
    for kind in kinds:
        if issubclass(kind, CustomResource):
            seen.setdefault(kind)
    return seen
