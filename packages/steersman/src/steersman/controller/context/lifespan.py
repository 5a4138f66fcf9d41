"""What the manager's lifespan gave, by its class. Pure."""

from typing import Final, TypeVar

from steersman.errors import NoLifespanValue

T = TypeVar("T")


class _Nothing:
    def __repr__(self) -> str:
        return "<no lifespan>"


#: The value where a manager has no lifespan; ``None`` is one that a lifespan may give.
NO_LIFESPAN: Final = _Nothing()


def lifespan_value(value: object, kind: type[T]) -> T:
    """The value, if it is of this class; ``NoLifespanValue`` if not."""
    if isinstance(value, kind):
        return value
    given = None if value is NO_LIFESPAN else type(value).__name__
    raise NoLifespanValue(wanted=kind.__name__, given=given)
