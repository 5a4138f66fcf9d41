"""Webhooks, read from the webhook configurations whenever a configuration changes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from steersman_cluster.apiserver.admission.match_conditions import MatchConditions
from steersman_cluster.apiserver.admission.matcher import Matcher
from steersman_cluster.apiserver.builtin.cluster.admission_expressions import declared
from steersman_cluster.apiserver.meta.strategy import Object

HARMLESS = frozenset(("None", "NoneOnDryRun"))

# The supported versions of AdmissionReview.
REVIEW_VERSIONS = ("v1", "v1beta1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """An admission webhook, with the match constraints of the requests for which it is called."""

    # The configuration, its revision and the webhook: responses are cached under this identity.
    identity: tuple[str, str, str, int]
    name: str
    matching: Matcher
    conditions: MatchConditions
    ignores_failure: bool
    side_effects: str
    timeout_seconds: int
    review_version: str  # empty if the webhook and the server have no version in common
    client_config: Object
    is_reinvocable: bool

    @property
    def may_run_dry(self) -> bool:
        """Whether the webhook can be called for a dry run, because it has no side effects then."""
        return self.side_effects in HARMLESS


def webhooks_of(configurations: Iterable[Object]) -> tuple[Webhook, ...]:
    """Return all webhooks of ``configurations`` in call order.

    They are sorted by the name of their configuration, then by their position in it.
    """
    in_order = sorted(configurations, key=lambda each: str(each["metadata"]["name"]))
    return tuple(webhook for each in in_order for webhook in _webhooks(each))


def _webhooks(configuration: Object) -> Iterator[Webhook]:
    about = configuration["metadata"]
    webhooks: list[Object] = configuration.get("webhooks") or []
    for index, written in enumerate(webhooks):
        versions = written.get("admissionReviewVersions") or ()
        spoken = [each for each in versions if each in REVIEW_VERSIONS]
        identity = (configuration["kind"], about["uid"], about["resourceVersion"], index)
        ignores_failure = written.get("failurePolicy") == "Ignore"
        yield Webhook(
            identity=identity,
            name=written.get("name", ""),
            matching=Matcher.of_webhook(written),
            conditions=MatchConditions(
                written.get("matchConditions") or (),
                declared(params=False),
                ignores_failure=ignores_failure,
            ),
            ignores_failure=ignores_failure,
            side_effects=written.get("sideEffects") or "",
            timeout_seconds=written.get("timeoutSeconds") or 10,
            review_version=spoken[0] if spoken else "",
            client_config=written.get("clientConfig") or {},
            is_reinvocable=written.get("reinvocationPolicy") == "IfNeeded",
        )
