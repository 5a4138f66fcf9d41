"""The base class of all errors."""

from typing import Any


class SteersmanError(Exception):
    """The base class of all errors that steersman raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        # To copy or unpickle an exception, Python calls its class with the message; these classes
        # take keywords.
        return _without_init, (type(self), *self.args), vars(self)


def _without_init(kind: type[SteersmanError], *args: object) -> SteersmanError:
    return kind.__new__(kind, *args)


def shown(value: object) -> str:
    """Return ``value`` as text for an error message; long text is truncated."""
    try:
        text = repr(value)
    except ValueError:  # an int of thousands of digits
        text = f"a huge {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:79]}…"
