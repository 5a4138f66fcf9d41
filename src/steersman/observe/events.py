"""What can happen, as frozen values: one class for each thing worth telling.

Working code makes one of these where the work is done and hands it to its ``Observer``. Logs,
metrics and whatever else wants to know are observers; none of them is known here.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from steersman.names import ObjectRef


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFinished:
    """The API server answered a request, or the last attempt at one failed."""

    verb: str
    resource: str
    ref: ObjectRef | None
    code: int | None
    took_seconds: float
    attempts: int
    error: Exception | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRetried:
    """An attempt failed in a way that is safe to repeat, and will be."""

    verb: str
    resource: str
    ref: ObjectRef | None
    attempt: int
    wait_seconds: float
    error: Exception


@dataclass(frozen=True, slots=True, kw_only=True)
class RetriesSpent:
    """A request was not repeated, although it could be, because the retry budget is empty."""

    verb: str
    resource: str
    ref: ObjectRef | None
    error: Exception


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiWarned:
    """The API server sent a warning for people, such as a deprecation."""

    verb: str
    resource: str
    ref: ObjectRef | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialsRenewed:
    """A token or certificate was read or fetched anew."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialsNotRenewed:
    """A token or certificate should have been renewed, and the old one stays in use."""

    source: str
    error: Exception


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskAccepted:
    """Someone asked for something unsafe and gets it: an unverified server, a readable key."""

    source: str
    risk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFailed:
    """The embedded API server could not answer a request for a reason of its own, and said so.

    Nobody knows what the error says: perhaps what was in the request.
    """

    method: str
    path: str
    error: Exception = field(repr=False)


Observation: TypeAlias = (
    RequestFinished
    | RequestRetried
    | RetriesSpent
    | ApiWarned
    | CredentialsRenewed
    | CredentialsNotRenewed
    | RiskAccepted
    | AnswerFailed
)

# It must not raise, for it is called in the middle of the work; ``fan_out`` makes any one safe.
Observer: TypeAlias = Callable[[Observation], None]
