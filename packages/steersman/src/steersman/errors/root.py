"""The base class of all errors."""

from typing import Any, ClassVar


class SteersmanError(Exception):
    """The base class of all errors that steersman raises.

    ``steersman explain`` explains the error under the name ``explained_as``.
    """

    # Not a note of the exception: pytest.raises(match=…) would search it after the message.
    explained_as: ClassVar[str] = "SteersmanError"

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # Other classes, such as those of an operator, have the explanation of their base class.
        if ".errors" in cls.__module__ and cls.__module__.startswith("steersman"):
            cls.explained_as = cls.__name__

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
