"""``Declaration``: the part of a ``Controller`` that its context and its caches depend on.

A protocol, because ``Controller`` names the context in the type of its functions: neither can
import the other.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from steersman.cache import IndexFunction
from steersman.client import Labels
from steersman.controller.declaration.watches import Owns, Watch
from steersman.controller.declaration.writes import Kind, Writes


class Declaration(Protocol):
    """The kinds that a controller reads and writes; a ``Controller`` is one."""

    @property
    def name(self) -> str:
        """The controller's name."""
        ...

    @property
    def kind(self) -> type[Any]:
        """The kind that it reconciles."""
        ...

    @property
    def labels(self) -> Labels:
        """Which objects of that kind."""
        ...

    @property
    def indexes(self) -> Mapping[str, IndexFunction[Any]]:
        """The author's indexes of that kind."""
        ...

    @property
    def owned(self) -> tuple[Owns, ...]:
        """The kinds that it owns."""
        ...

    @property
    def watches(self) -> tuple[Watch[Any], ...]:
        """The kinds that it watches."""
        ...

    @property
    def reads(self) -> tuple[Kind, ...]:
        """The kinds that it reads from the server only."""
        ...

    @property
    def written(self) -> tuple[Writes, ...]:
        """What it writes without owning it."""
        ...
