"""``Condition``: one thing that is true, false or not known about an object."""

from datetime import datetime

from steersman.kinds.base import Part


class Condition(Part):
    """One thing that is true, false or not known about an object, and since when.

    Every built-in condition class is a kind of this one.
    """

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    last_transition_time: datetime | None = None
    observed_generation: int | None = None

    @property
    def is_true(self) -> bool:
        """The condition holds: its status is ``True``, not ``False`` or ``Unknown``."""
        return self.status == "True"

    @staticmethod
    def true(type: str, *, reason: str, message: str = "") -> "Condition":
        """A condition of ``type`` that holds."""
        return Condition(type=type, status="True", reason=reason, message=message)

    @staticmethod
    def false(type: str, *, reason: str, message: str = "") -> "Condition":
        """A condition of ``type`` that does not hold."""
        return Condition(type=type, status="False", reason=reason, message=message)

    @staticmethod
    def unknown(type: str, *, reason: str, message: str = "") -> "Condition":
        """A condition of ``type`` of which is not known whether it holds."""
        return Condition(type=type, status="Unknown", reason=reason, message=message)

    @staticmethod
    def when(holds: bool, type: str, *, yes: str, no: str, message: str = "") -> "Condition":
        """A condition of ``type`` that is true or false, with one reason for each case."""
        return Condition(
            type=type,
            status="True" if holds else "False",
            reason=yes if holds else no,
            message=message,
        )
