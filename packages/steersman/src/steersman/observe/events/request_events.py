"""Observations of requests, both to the API server and to the operator's own listeners."""

import logging
from collections.abc import Iterable
from typing import ClassVar, Final

from steersman.names import ObjectRef
from steersman.observe.observation import Fields, Metric, Observation, Sample, counter
from steersman.observe.phrases import duration_text, place_of, ref_fields

# Rejections that an operator's administrator has to handle. The caller handles the others: getting
# an object that does not exist is normal.
_LOUD_CODES: Final = frozenset({401, 403, 429})

# A reflector retries until the server responds, and reports a series of failures once, not at each
# attempt (``WatchFailed``). Other callers of a list get the error.
_QUIET_VERBS: Final = frozenset({"list", "watch"})

_RENEWALS: Final = counter(
    "steersman_client_credential_renewals",
    "Renewals of tokens and certificates, by outcome (renewed or failed).",
    "outcome",
)


class _RequestObservation(Observation, frozen=True, kw_only=True):
    verb: str
    resource: str
    ref: ObjectRef | None

    def _subject(self) -> str:
        return f"{self.verb} {self.ref or self.resource}"

    def _fields(self, error: Exception | None) -> dict[str, str | int | float]:
        fields: dict[str, str | int | float] = {"verb": self.verb, "resource": self.resource}
        if self.ref is not None:
            fields |= ref_fields(self.ref)
        return fields if error is None else fields | {"error": type(error).__name__}


class RequestFinished(_RequestObservation, frozen=True, kw_only=True):
    """A request to the API server has received a response, or its last attempt has failed."""

    code: int | None
    took_seconds: float
    attempts: int
    error: Exception | None = None

    def level(self) -> int:
        """Return ``WARNING`` for a failure that callers usually cannot handle, else ``DEBUG``.

        Failed list and watch requests are logged at ``DEBUG``, because reflectors report them.
        """
        if self.error is None or self.verb in _QUIET_VERBS:
            return logging.DEBUG
        code = self.code
        is_loud = code is None or code >= 500 or code in _LOUD_CODES
        return logging.WARNING if is_loud else logging.DEBUG

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the code or the error, and the duration."""
        took = f"in {duration_text(self.took_seconds)}"
        if self.attempts > 1:
            took += f" and {self.attempts} attempts"
        result = f"{self.code} {took}" if self.error is None else f"failed {took}: {self.error}"
        fields = self._fields(self.error)
        fields |= {"took_seconds": self.took_seconds, "attempts": self.attempts}
        if self.code is not None:
            fields["code"] = self.code
        return f"{self._subject()}: {result}", fields


class RequestRetried(_RequestObservation, frozen=True, kw_only=True):
    """An attempt of a request failed, and the request is sent again, because that is safe."""

    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_client_retries",
            "Attempts that failed and were retried.",
            "verb",
            "resource",
        ),
    )
    attempt: int
    wait_seconds: float
    error: Exception

    def level(self) -> int:
        """Return ``DEBUG`` for list and watch requests, which reflectors report, else ``INFO``."""
        return logging.DEBUG if self.verb in _QUIET_VERBS else logging.INFO

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the number of the failed attempt and the following wait."""
        again = f"will be tried again in {duration_text(self.wait_seconds)}"
        text = f"{self._subject()}: attempt {self.attempt} failed and {again}: {self.error}"
        return text, self._fields(self.error)


class RetriesSpent(_RequestObservation, frozen=True, kw_only=True):
    """A request failed and could safely be retried, but the retry budget is empty."""

    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_client_retries_spent",
            "Requests that were not retried because the retry budget was empty.",
            "verb",
            "resource",
        ),
    )
    error: Exception

    def level(self) -> int:
        """Return ``DEBUG`` for list and watch requests, and ``WARNING`` for other requests."""
        return logging.DEBUG if self.verb in _QUIET_VERBS else logging.WARNING

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the error of the last attempt."""
        text = f"{self._subject()}: failed, and the retry budget is empty: {self.error}"
        return text, self._fields(self.error)


class ApiWarned(_RequestObservation, frozen=True, kw_only=True):
    """The API server added a warning for users to a response, such as about a deprecated API."""

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_client_warnings",
            "Warnings that the API server sent.",
            "verb",
            "resource",
        ),
    )
    text: str

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the warning."""
        return f"{self._subject()}: the API server warns: {self.text}", self._fields(None)


class CredentialsRenewed(Observation, frozen=True, kw_only=True):
    """A token or certificate was read from its file again, or requested again."""

    METRICS: ClassVar[tuple[Metric, ...]] = (_RENEWALS,)
    source: str
    reason: str

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the source and the reason."""
        return f"credentials from {self.source} renewed: {self.reason}", {"source": self.source}

    def samples(self) -> Iterable[Sample]:
        """Return a sample that counts one renewal."""
        return (_RENEWALS.sample(1, "renewed"),)


class CredentialsNotRenewed(Observation, frozen=True, kw_only=True):
    """The renewal of a token or certificate has failed; the old one is still used."""

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (_RENEWALS,)
    source: str
    error: Exception

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the source and the error."""
        text = f"credentials from {self.source} not renewed, the old ones stay in use: {self.error}"
        return text, {"source": self.source, "error": type(self.error).__name__}

    def samples(self) -> Iterable[Sample]:
        """Return a sample that counts one failed renewal."""
        return (_RENEWALS.sample(1, "failed"),)


class RiskAccepted(Observation, frozen=True, kw_only=True):
    """An insecure option is in use: an unverified server, or a private key that others can read."""

    LEVEL: ClassVar[int] = logging.WARNING
    source: str
    risk: str

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the risk."""
        return f"{self.source}: {self.risk}", {"source": self.source}


class ResponseFailed(Observation, frozen=True, kw_only=True):
    """One of the operator's listeners could not serve a request because of an internal error.

    The text of the error is not logged, because it may quote the request.
    """

    LEVEL: ClassVar[int] = logging.ERROR
    method: str
    path: str
    error: Exception

    def __repr__(self) -> str:
        return f"ResponseFailed(method={self.method!r}, path={self.path!r})"

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the class of the error and the line of code that raised it.

        The text of the error is left out, because it may contain secrets.
        """
        what = type(self.error).__name__
        text = f"{self.method} {self.path}: the handler raised {what} {place_of(self.error)}"
        return text, {"method": self.method, "path": self.path, "error": what}
