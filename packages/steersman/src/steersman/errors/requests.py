"""Errors of requests: error responses of the API server, and missing responses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from steersman.errors.root import SteersmanError


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One of the reasons why the API server rejected an object."""

    reason: str
    message: str
    field: str = ""


class ApiError(SteersmanError):
    """The API server responded with an error."""

    what_now: ClassVar[str] = ""

    def __init__(
        self,
        *,
        wanted: str,
        code: int,
        reason: str,
        message: str,
        causes: tuple[Cause, ...] = (),
        retry_after_seconds: float | None = None,
        uid: str = "",
    ) -> None:
        self.wanted = wanted
        self.code = code
        self.reason = reason
        self.message = message
        self.causes = causes
        self.retry_after_seconds = retry_after_seconds
        self.uid = uid
        status = f"{code} {reason}" if reason else str(code)
        sentence = f"could not {wanted}: the server responded with {status}: {message.rstrip('.')}."
        super().__init__(f"{sentence} {self._advice()}".rstrip())

    def _advice(self) -> str:
        return self.what_now


class BadRequest(ApiError):
    """The API server could not parse the request."""

    what_now = "Correct the request; a retry fails again."


class Unauthorized(ApiError):
    """The API server cannot identify the user."""

    what_now = "Check the token, client certificate or plugin of the kubeconfig's user."


class Forbidden(ApiError):
    """The user lacks the permission for the request."""

    what_now = "Grant this verb on this resource in a Role or ClusterRole, or use another identity."


class NotFound(ApiError):
    """The object or the resource does not exist."""


class MethodNotAllowed(ApiError):
    """The resource exists, but does not support the verb of the request."""


class AlreadyExists(ApiError):
    """An object of this name already exists."""

    what_now = "Apply or patch it, or choose another name."


class Conflict(ApiError):
    """Another client changed the object first, or another field manager owns a field to be set."""

    what_now = "Read the object again, and retry with its current state."

    def _advice(self) -> str:
        if any(cause.reason == "FieldManagerConflict" for cause in self.causes):
            return "Leave out the fields that another manager owns, or set them with force=True."
        return self.what_now


class Expired(ApiError):
    """The resourceVersion or the continue token is older than the API server's stored history."""

    what_now = "List again."


class Invalid(ApiError):
    """The object violates its schema or a validation rule; ``causes`` names the fields."""

    what_now = "Change the fields named above."


class TooManyRequests(ApiError):
    """The API server sheds load, or an eviction would violate a PodDisruptionBudget."""

    what_now = "Retry later, and less often."


class ServerFailed(ApiError):
    """The API server responded with a 5xx code; a write may have been carried out."""

    what_now = "If this was a write, read before writing again."


class Unavailable(ServerFailed):
    """The API server, or a component that it depends on, is currently unavailable."""


class ServerTimeout(ServerFailed):
    """The API server reported a timeout."""


class TooLargeResourceVersion(ServerTimeout):
    """The API server that responded has not yet reached the requested resourceVersion."""

    what_now = "Wait for it to catch up, then retry with the same version."


class Unreachable(SteersmanError):
    """No response to a request arrived.

    ``may_have_happened`` is false only if the API server certainly did not receive the request.
    """

    def __init__(self, message: str, *, may_have_happened: bool = True) -> None:
        self.may_have_happened = may_have_happened
        super().__init__(message)


class DeadlinePassed(Unreachable):
    """No response arrived before the deadline of the request."""


class InvalidResponse(SteersmanError):
    """A response that no API server should send, such as one that is not JSON or too large.

    A redirect, or an object of a wrong kind, is such a response too.
    """

    def __init__(self, *, wanted: str, problem: str, what_now: str) -> None:
        self.wanted = wanted
        self.problem = problem
        super().__init__(f"could not {wanted}: {problem}. {what_now}")


class EndlessList(InvalidResponse):
    """A list whose pages do not end; reading stopped after ``pages`` pages."""

    def __init__(self, *, wanted: str, problem: str, pages: int) -> None:
        self.pages = pages
        super().__init__(
            wanted=wanted,
            problem=f"the list does not end: {problem}",
            what_now="Check the proxies, and the paging of an aggregated API server. If the list"
            " has that many pages, raise pages_limit in ClientSettings (Manager(client=…)).",
        )


class InvalidObject(SteersmanError):
    """A received object that does not fit its Python class; ``body`` is its content."""

    def __init__(self, *, ref: str, into: str, problem: str, body: Mapping[str, object]) -> None:
        self.ref = ref
        self.into = into
        self.problem = problem
        self.body = body
        super().__init__(
            f"{ref} does not fit {into}: {problem}."
            f" Correct the object, or read it as Unstructured and widen the class."
        )
