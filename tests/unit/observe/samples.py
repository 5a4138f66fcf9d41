"""A sample of each observation."""

from steersman.errors import Conflict, Unreachable
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import (
    ApiWarned,
    CredentialsNotRenewed,
    CredentialsRenewed,
    KeyAdded,
    KeyDelayed,
    KeyDone,
    KeyRaised,
    KeyTaken,
    Observation,
    QueueEnded,
    RequestFinished,
    RequestRetried,
    ResponseFailed,
    RetriesSpent,
    RiskAccepted,
)
from steersman.observe.observation import Fields, observation_classes
from tests.unit.observe.cache_samples import CACHED
from tests.unit.observe.controller_samples import CONTROLLED
from tests.unit.observe.manager_samples import MANAGED
from tests.unit.observe.watch_samples import WATCHED

WEB = ObjectRef("Deployment", "default", "web")
UNREACHABLE = Unreachable("PATCH /web on https://kube: cannot reach the server. Wait.")
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
KEY = ObjectKey("default", "web")
ADDED = KeyAdded(queue="apps", key=KEY, priority=-100)
RAISED = KeyRaised(queue="apps", key=KEY, old_priority=-100, priority=0)
DELAYED = KeyDelayed(queue="apps", key=KEY, wait_seconds=0.02, requeues=3)
TAKEN = KeyTaken(queue="apps", key=KEY, priority=0, waited_seconds=0.5, taken_at=1000.0)
DONE = KeyDone(queue="apps", key=KEY, took_seconds=2.5)
ENDED = QueueEnded(queue="apps", left=3, held=1)
ALL: tuple[Observation, ...] = (
    FINISHED,
    RETRIED,
    RETRIES_SPENT,
    WARNED,
    CredentialsRenewed(source="token file", reason="it changed"),
    CredentialsNotRenewed(source="token file", error=OSError("it is gone")),
    RiskAccepted(source="kubeconfig", risk="the server is not verified"),
    ResponseFailed(method="GET", path="/api/v1/pods", error=KeyError("spec")),
    ADDED,
    RAISED,
    DELAYED,
    TAKEN,
    DONE,
    ENDED,
    *WATCHED,
    *CACHED,
    *CONTROLLED,
    *MANAGED,
)

# A new observation needs a sample; otherwise the tests of all observations skip it.
assert {type(sample) for sample in ALL} == set(observation_classes())


def failed(code: int | None) -> RequestFinished:
    """A failed request."""
    return RequestFinished(
        verb="patch",
        resource="deployments",
        ref=WEB,
        code=code,
        took_seconds=2.5,
        attempts=3,
        error=CONFLICT if code == 409 else UNREACHABLE,
    )


def describe(observation: Observation) -> tuple[str, Fields]:
    """The text and fields of the log line."""
    return observation.describe()


def level_of(observation: Observation) -> int:
    """The level of the log line."""
    return observation.level()
