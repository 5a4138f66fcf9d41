"""``Declaration``: the part of a ``Controller`` that its context and its caches depend on.

``Declaration`` is a protocol to avoid a cyclic import: the module of ``Controller`` imports the
context, so the context cannot import ``Controller``.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from steersman.cache import IndexFunction
from steersman.client import Labels
from steersman.controller.declaration.watches import Owns, Watch
from steersman.controller.declaration.writes import Kind, Writes


class Declaration(Protocol):
    """A protocol for the kinds that a controller reads and writes; ``Controller`` implements it."""

    @property
    def name(self) -> str:
        """The controller's name."""
        ...

    @property
    def kind(self) -> type[Any]:
        """The kind that the controller reconciles."""
        ...

    @property
    def labels(self) -> Labels:
        """The label selector of the controller's own kind."""
        ...

    @property
    def indexes(self) -> Mapping[str, IndexFunction[Any]]:
        """The operator author's indexes of the controller's own kind."""
        ...

    @property
    def owned(self) -> tuple[Owns, ...]:
        """The kinds that the controller owns."""
        ...

    @property
    def watches(self) -> tuple[Watch[Any], ...]:
        """The kinds that the controller watches."""
        ...

    @property
    def reads(self) -> tuple[Kind, ...]:
        """The kinds that the controller reads only from the server."""
        ...

    @property
    def written(self) -> tuple[Writes, ...]:
        """The kinds that the controller writes without owning them."""
        ...
