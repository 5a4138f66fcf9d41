"""The webhooks of a request: mutating webhooks one after the other, validating webhooks together.

This module calls no webhook itself. It looks up each response among the responses received so far.
If a response is missing, it raises ``NeedsWebhook``: ``webhooks.request_runner`` then sends the
``AdmissionReview`` of ``admission_reviews`` to the webhook, and runs the request again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from steersman_cluster.apiserver.admission.admission_requests import request_of
from steersman_cluster.apiserver.admission.admission_reviews import (
    AdmissionResponse,
    AdmissionReview,
    CallFailed,
    denied,
    response_of,
)
from steersman_cluster.apiserver.admission.attributes import Attributes
from steersman_cluster.apiserver.admission.match_conditions import ConditionFailed
from steersman_cluster.apiserver.admission.matcher import MatchContext, MatchedResource
from steersman_cluster.apiserver.admission.variables import values_of
from steersman_cluster.apiserver.admission.webhook_configurations import Webhook
from steersman_cluster.apiserver.admission.webhook_patches import (
    PatchDecodeError,
    PatchFailed,
    operations_of,
    patched,
)
from steersman_cluster.apiserver.cel import Authorizer
from steersman_cluster.apiserver.meta.rules import Object, RuleContext
from steersman_cluster.apiserver.meta.status_errors import (
    StatusError,
    bad_request,
    forbidden,
    internal_error,
)
from steersman_cluster.apiserver.meta.users import User
from steersman_cluster.apiserver.request.webhook_answers import WebhookAnswers
from steersman_cluster.apiserver.webhooks import NeedsWebhook
from steersman_cluster.apiserver.webhooks.addresses import webhook_address


class ObjectVersions(MatchContext, Protocol):
    """A converter of objects to the versions that webhooks match."""

    @property
    def around(self) -> RuleContext:
        """The stored objects."""
        ...

    def converted(self, wanted: Attributes, place: MatchedResource) -> Attributes:
        """Return the same request with its objects in the version of ``place``."""
        ...

    def read(self, document: Any, wanted: Attributes, place: MatchedResource) -> Object:
        """Decode and default a patched object in the version of ``place``; raise
        ``StatusError``.
        """
        ...

    def authorizer(self, user: User) -> Authorizer:
        """Return the authorizer with which expressions check ``user``."""
        ...

    def returned(self, obj: Object, wanted: Attributes, place: MatchedResource) -> Object:
        """Convert an object in the version of ``place`` back to the version of the request."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookDispatcher:
    """The webhooks of one request, and the responses that they gave."""

    versions: ObjectVersions
    answers: WebhookAnswers
    warnings: list[str]

    def mutated(
        self,
        wanted: Attributes,
        webhooks: Sequence[Webhook],
        *,
        again: Callable[[Object], Object],
    ) -> Attributes:
        """Return the request after all mutating webhooks, which are called one after the other.

        Each webhook receives the changes of the previous webhooks. When a webhook changes the
        object, the previous webhooks with ``reinvocationPolicy: IfNeeded`` are called once more.
        Before that, ``again`` runs the server's own admission plugins on the object.
        """
        invoked: set[object] = set()
        invited: set[object] = set()
        is_changed = False
        for webhook in webhooks:
            wanted, called, changed = self._asked(wanted, webhook, turn="")
            if changed:
                is_changed = True
                invited |= invoked
                invoked.clear()
            if called and webhook.is_reinvocable:
                invoked.add(webhook.identity)
        if not is_changed or wanted.obj is None:
            return wanted
        before = wanted.obj
        wanted = replace(wanted, obj=again(before))
        if wanted.obj != before:
            invited |= invoked
            invoked.clear()
        for webhook in webhooks:
            if webhook.identity not in invited:
                continue
            wanted, called, changed = self._asked(wanted, webhook, turn="again")
            if changed:
                invited |= invoked
                invoked.clear()
            if called and webhook.is_reinvocable:
                invoked.add(webhook.identity)
        return wanted

    def _asked(
        self, wanted: Attributes, webhook: Webhook, *, turn: str
    ) -> tuple[Attributes, bool, bool]:
        """Return the request after one webhook.

        The second value is whether the webhook was called, the third whether it changed the object.
        """
        place = self._place(wanted, webhook)
        if place is None:
            return wanted, False, False
        seen = self.versions.converted(wanted, place)
        try:
            _check_dry_run(webhook, wanted)
            review = self._review(webhook, seen, place, turn)
            if review.key not in self.answers:
                raise NeedsWebhook([review])
            verdict = self._verdict(review, mutating=True)
            operations = _operations(verdict)
        except CallFailed as failure:
            if webhook.ignores_failure:
                return wanted, True, False
            raise _failed(webhook, failure) from None
        if not operations:
            return wanted, True, False
        if seen.obj is None:
            raise internal_error(
                f'admission webhook "{webhook.name}" attempted to modify the object,'
                " which is not supported for this operation"
            )
        try:
            document = patched(seen.obj, operations)
        except PatchFailed as problem:
            raise internal_error(str(problem)) from None
        made = self.versions.read(document, seen, place)
        if made == seen.obj:
            return wanted, True, False
        returned = self.versions.returned(made, wanted, place)
        return replace(wanted, obj=returned), True, True

    def check(self, wanted: Attributes, webhooks: Sequence[Webhook]) -> None:
        """Run all validating webhooks concurrently; raise the error of the first one to deny."""
        asked = [
            (webhook, self._judged(webhook, wanted, place))
            for webhook in webhooks
            if (place := self._place(wanted, webhook)) is not None
        ]
        unknown = [
            review
            for _, review in asked
            if isinstance(review, AdmissionReview) and review.key not in self.answers
        ]
        if unknown:
            raise NeedsWebhook(unknown)
        refusals = [self._objection(webhook, review) for webhook, review in asked]
        for refusal in refusals:
            if refusal is not None:
                raise refusal

    def _judged(
        self, webhook: Webhook, wanted: Attributes, place: MatchedResource
    ) -> AdmissionReview | CallFailed | StatusError:
        try:
            _check_dry_run(webhook, wanted)
            seen = self.versions.converted(wanted, place)
            return self._review(webhook, seen, place, "")
        except (CallFailed, StatusError) as problem:
            return problem

    def _objection(
        self, webhook: Webhook, review: AdmissionReview | CallFailed | StatusError
    ) -> StatusError | None:
        if isinstance(review, StatusError):
            return review
        try:
            if isinstance(review, CallFailed):
                raise review
            self._verdict(review, mutating=False)
        except CallFailed as failure:
            return None if webhook.ignores_failure else _failed(webhook, failure)
        except StatusError as refusal:
            return refusal
        return None

    def _place(self, wanted: Attributes, webhook: Webhook) -> MatchedResource | None:
        place = webhook.matching.place(wanted, self.versions)
        if place is None or not webhook.conditions:
            return place
        seen = self.versions.converted(wanted, place)
        values = values_of(wanted, seen, place, authorizers=self.versions.authorizer)
        try:
            return place if webhook.conditions.all_match(values) else None
        except ConditionFailed as problem:
            raise forbidden(wanted.group_resource, wanted.name, str(problem)) from None

    def _review(
        self, webhook: Webhook, seen: Attributes, place: MatchedResource, turn: str
    ) -> AdmissionReview:
        if not webhook.review_version:
            raise CallFailed(
                "could not create admission objects: webhook does not accept known AdmissionReview"
                " versions (v1, v1beta1)"
            )
        if not webhook.client_config.get("url") and not webhook.client_config.get("service"):
            raise CallFailed(
                "could not get REST client: webhook configuration must have either service or URL"
            )
        address = webhook_address(webhook.client_config, self.versions.around)
        if address.ca_bundle and b"-----BEGIN " not in address.ca_bundle:
            raise CallFailed(
                "could not get REST client: unable to load root certificates:"
                " unable to parse bytes as PEM block"
            )
        request = request_of(seen, place)
        return AdmissionReview(webhook=webhook, request=request, address=address, turn=turn)

    def _verdict(self, review: AdmissionReview, *, mutating: bool) -> AdmissionResponse:
        """Return the webhook's response and collect its warnings; raise an error if it denies."""
        webhook = review.webhook
        verdict = response_of(self.answers[review.key], webhook, mutating=mutating)
        self.warnings.extend(filter(None, verdict.warnings))
        if not verdict.allowed:
            raise denied(webhook, verdict.status)
        return verdict


def _check_dry_run(webhook: Webhook, wanted: Attributes) -> None:
    if not wanted.dry_run or webhook.may_run_dry:
        return
    if not webhook.side_effects:
        raise CallFailed("Webhook SideEffects is nil")
    raise bad_request(f'admission webhook "{webhook.name}" does not support dry run')


def _operations(verdict: AdmissionResponse) -> list[Object]:
    if not verdict.patch:
        return []
    try:
        operations = operations_of(verdict.patch)
    except PatchDecodeError as problem:
        raise CallFailed(f"received undecodable patch in webhook response: {problem}") from None
    if operations and verdict.patch_type != "JSONPatch":
        raise CallFailed(f'unsupported patch type "{verdict.patch_type}"')
    return operations


def _failed(webhook: Webhook, failure: CallFailed) -> StatusError:
    return internal_error(f'failed calling webhook "{webhook.name}": {failure}')
