"""The path of a field in a kind, for error messages: ``AppService: spec.ports[].name``."""

from typing import NamedTuple

from steersman.errors import CannotBeACrd


class Place(NamedTuple):
    """The path of a field of a kind, or of a value nested in a field."""

    kind: str
    path: str = ""

    def field(self, name: str) -> "Place":
        """Return the path of a field of the object at this path."""
        return Place(self.kind, f"{self.path}.{name}" if self.path else name)

    def each(self) -> "Place":
        """Return the path of the items of the list, or the values of the map, at this path."""
        return Place(self.kind, f"{self.path}[]")

    def refused(self, problem: str, what_now: str) -> CannotBeACrd:
        """Return the error for a problem at this path."""
        return CannotBeACrd(kind=self.kind, field=self.path, problem=problem, what_now=what_now)
