"""Where in a kind something stands, for people: ``AppService: spec.ports[].name``."""

from typing import NamedTuple

from steersman.errors import CannotBeACrd


class Place(NamedTuple):
    """A field of a kind, or what is inside of it."""

    kind: str
    path: str = ""

    def field(self, name: str) -> "Place":
        """A field of what is here."""
        return Place(self.kind, f"{self.path}.{name}" if self.path else name)

    def each(self) -> "Place":
        """Each item of the list, or value of the map, that is here."""
        return Place(self.kind, f"{self.path}[]")

    def refused(self, problem: str, what_now: str) -> CannotBeACrd:
        """The error that says what is wrong here."""
        return CannotBeACrd(kind=self.kind, field=self.path, problem=problem, what_now=what_now)
