"""The path of a field in a kind, for error messages: ``AppService: spec.ports[].name``."""

from typing import NamedTuple

from steersman.errors import CannotBeACrd


class Place(NamedTuple):
    """The kind and path of a field, or of a value inside a field, for error messages."""

    kind: str
    path: str = ""

    def field(self, name: str) -> "Place":
        """Return the place of the field ``name`` of the object at this place."""
        return Place(self.kind, f"{self.path}.{name}" if self.path else name)

    def each(self) -> "Place":
        """Return the place of the items of the list, or the values of the map, at this place."""
        return Place(self.kind, f"{self.path}[]")

    def refused(self, problem: str, what_now: str) -> CannotBeACrd:
        """Return the error for ``problem`` at this place, with the advice ``what_now``."""
        return CannotBeACrd(kind=self.kind, field=self.path, problem=problem, what_now=what_now)
