"""One of each observation."""

from typing import get_args

from steersman.errors import Conflict, Unreachable
from steersman.names import ObjectRef
from steersman.observe import (
    AnswerFailed,
    ApiWarned,
    CredentialsNotRenewed,
    CredentialsRenewed,
    Observation,
    RequestFinished,
    RequestRetried,
    RetriesSpent,
    RiskAccepted,
)

WEB = ObjectRef("Deployment", "default", "web")
UNREACHABLE = Unreachable("PATCH /web on https://kube: the server was not reached. Wait.")
CONFLICT = Conflict(wanted="patch Deployment default/web", code=409, reason="Conflict", message="")

FINISHED = RequestFinished(
    verb="patch", resource="deployments", ref=WEB, code=200, took_seconds=0.0123, attempts=1
)
RETRIED = RequestRetried(
    verb="patch",
    resource="deployments",
    ref=WEB,
    attempt=2,
    wait_seconds=1.25,
    error=UNREACHABLE,
)
RETRIES_SPENT = RetriesSpent(verb="patch", resource="deployments", ref=WEB, error=UNREACHABLE)
WARNED = ApiWarned(verb="patch", resource="deployments", ref=WEB, text="apps/v1beta1 is deprecated")
ALL: tuple[Observation, ...] = (
    FINISHED,
    RETRIED,
    RETRIES_SPENT,
    WARNED,
    CredentialsRenewed(source="token file", reason="it changed"),
    CredentialsNotRenewed(source="token file", error=OSError("it is gone")),
    RiskAccepted(source="kubeconfig", risk="the server is not verified"),
    AnswerFailed(method="GET", path="/api/v1/pods", error=KeyError("spec")),
)

# A new observation needs a sample, or the tests that look at all of them miss it.
assert {type(sample) for sample in ALL} == set(get_args(Observation))


def failed(code: int | None) -> RequestFinished:
    """A request that came to nothing."""
    return RequestFinished(
        verb="patch",
        resource="deployments",
        ref=WEB,
        code=code,
        took_seconds=2.5,
        attempts=3,
        error=CONFLICT if code == 409 else UNREACHABLE,
    )
