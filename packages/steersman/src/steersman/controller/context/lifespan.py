"""The type check of the value of the manager's ``lifespan``. No I/O."""

from typing import Final, TypeVar

from steersman.errors import NoLifespanValue

T = TypeVar("T")


class _NoLifespan:
    def __repr__(self) -> str:
        return "<no lifespan>"


#: The value without a lifespan; not ``None``, because a lifespan may yield ``None``.
NO_LIFESPAN: Final = _NoLifespan()


def lifespan_value(value: object, kind: type[T]) -> T:
    """Return ``value``; raise ``NoLifespanValue`` unless it is an instance of ``kind``."""
    if isinstance(value, kind):
        return value
    given = None if value is NO_LIFESPAN else type(value).__name__
    raise NoLifespanValue(wanted=kind.__name__, given=given)
