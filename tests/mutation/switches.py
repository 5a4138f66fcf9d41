"""The functions that instrumented code calls: each has the number of the mutant that it can become.

A part of the source is deleted while its number is ``active``. Otherwise its number is added to
``reached`` if the result would differ without the part; a rule that finds no error does not count.
"""

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

# No mutant has this number.
NO_MUTANT = -1
# The mutant of this process.
active = NO_MUTANT
reached: set[int] = set()


def runs(number: int) -> bool:
    """Whether a statement or a value exists, which has an effect whenever it exists."""
    if number == active:
        return False
    reached.add(number)
    return True


def exists(number: int) -> bool:
    """Whether a part exists whose value ``noted`` receives."""
    return number != active


def noted(number: int, value: Any) -> Any:
    """The value; it has an effect unless it is empty."""
    if isinstance(value, Iterator):
        return _noted_items(number, value)
    if value:
        reached.add(number)
    return value


def _noted_items(number: int, items: Iterator[Any]) -> Iterator[Any]:
    for each in items:
        reached.add(number)
        yield each


def row(number: int, check: Any) -> Any:
    """A ``rule.Check`` that finds no errors while the mutant is active."""

    def run(value: Any, path: str, scope: Any, errors: Any) -> None:
        if number == active:
            return
        before = len(errors)
        check.run(value, path, scope, errors)
        if len(errors) > before:
            reached.add(number)

    return type(check)(run)


def weaker(
    number: int, strong: Callable[..., Any], weak: Callable[..., Any], *rules: Any, **options: Any
) -> Any:
    """A row that is ``strong``, or while the mutant is active, ``weak``."""
    full = row(number, strong(*rules, **options))
    options.pop("detail", None)  # a weak row reports nothing itself
    rest = weak(*rules, **options)

    def run(value: Any, path: str, scope: Any, errors: Any) -> None:
        if number != active:
            full.run(value, path, scope, errors)
        elif not rest.reads or rest.reads in value:
            rest.run(value, path, scope, errors)

    return type(full)(run)


def set_default(number: int, obj: MutableMapping[str, Any], key: str, *default: Any) -> None:
    """``obj.setdefault(key, *default)``; it has an effect if the key is absent."""
    if number != active:
        if key not in obj:
            reached.add(number)
        obj.setdefault(key, *default)


def default(number: int, obj: MutableMapping[str, Any], **values: Any) -> dict[str, Any]:
    """One of the arguments of ``fill``; it has an effect if the field is absent or empty."""
    if number == active:
        return {}
    if not all(obj.get(each) for each in values):
        reached.add(number)
    return values
