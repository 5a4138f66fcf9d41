"""Observations as Prometheus metrics; the names of all metrics are written here."""

from typing import Final, assert_never

from prometheus_client import CollectorRegistry, Counter, Histogram

from steersman.observe.events import (
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

# An operator works with a dozen resources in a dozen ways. Names can come from the cluster, and
# each new one would cost memory here and in Prometheus for ever; past this they are all "other".
MOST_VALUES: Final = 100

# From an answer out of the server's memory to the longest deadline of an ordinary request.
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_REQUEST: Final = ("verb", "resource")


class MetricsObserver:
    """Counts in ``registry``; no label is ever the name of an object or a namespace."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "steersman_client_requests",
            "Requests to the API server, by the class of its answer (none: no answer).",
            (*_REQUEST, "code"),
            registry=registry,
        )
        self._request_seconds = Histogram(
            "steersman_client_request_seconds",
            "Time from a request to its answer, retries included.",
            _REQUEST,
            buckets=_SECONDS,
            registry=registry,
        )
        self._retries = Counter(
            "steersman_client_retries",
            "Attempts that failed and were repeated.",
            _REQUEST,
            registry=registry,
        )
        self._retries_spent = Counter(
            "steersman_client_retries_spent",
            "Requests that were not repeated because the retry budget was empty.",
            _REQUEST,
            registry=registry,
        )
        self._warnings = Counter(
            "steersman_client_warnings",
            "Warnings that the API server sent.",
            _REQUEST,
            registry=registry,
        )
        self._renewals = Counter(
            "steersman_client_credential_renewals",
            "Renewals of tokens and certificates, by outcome (renewed or failed).",
            ("outcome",),
            registry=registry,
        )
        self._verbs: set[str] = set()
        self._resources: set[str] = set()
        # Finding a metric by its labels takes longer than to count in it, and one request is
        # like another.
        self._found: dict[tuple[str, str, str], tuple[Counter, Histogram]] = {}

    def __call__(self, observation: Observation) -> None:
        match observation:
            case RequestFinished():
                count, seconds = self._of_request(observation)
                count.inc()
                seconds.observe(observation.took_seconds)
            case RequestRetried():
                self._retries.labels(*self._labels(observation)).inc()
            case RetriesSpent():
                self._retries_spent.labels(*self._labels(observation)).inc()
            case ApiWarned():
                self._warnings.labels(*self._labels(observation)).inc()
            case CredentialsRenewed():
                self._renewals.labels("renewed").inc()
            case CredentialsNotRenewed():
                self._renewals.labels("failed").inc()
            case RiskAccepted() | AnswerFailed():
                # Said once, at the start, or not the client's: those are for the log.
                pass
            case _:
                assert_never(observation)

    def _of_request(self, finished: RequestFinished) -> tuple[Counter, Histogram]:
        key = (*self._labels(finished), _class_of(finished.code))
        found = self._found.get(key)
        if found is None:
            found = self._requests.labels(*key), self._request_seconds.labels(*key[:2])
            self._found[key] = found
        return found

    def _labels(
        self, request: RequestFinished | RequestRetried | RetriesSpent | ApiWarned
    ) -> tuple[str, str]:
        return _bounded(request.verb, self._verbs), _bounded(request.resource, self._resources)


def _bounded(value: str, known: set[str]) -> str:
    if value not in known:
        if len(known) >= MOST_VALUES:
            return "other"
        known.add(value)
    return value


def _class_of(code: int | None) -> str:
    return "none" if code is None else f"{code // 100}xx"
