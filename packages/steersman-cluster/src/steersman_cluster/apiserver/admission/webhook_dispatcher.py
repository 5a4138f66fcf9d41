"""The webhooks of a request: mutating ones one after the other, validating ones together.

This module calls no webhook itself. It looks up each response among the responses received so far.
If a response is missing, it raises ``NeedsWebhook``. Then ``webhooks.request_runner`` sends the
missing ``AdmissionReview`` to its webhook, and handles the request again from the start.
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
from steersman_cluster.apiserver.admission.attributes import AdmissionAttributes
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
from steersman_cluster.apiserver.cel import CelAuthorizer
from steersman_cluster.apiserver.meta.status_errors import (
    StatusError,
    bad_request,
    forbidden,
    internal_error,
)
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext
from steersman_cluster.apiserver.meta.users import User
from steersman_cluster.apiserver.request.resources import WebhookResponses
from steersman_cluster.apiserver.webhooks import NeedsWebhook
from steersman_cluster.apiserver.webhooks.addresses import webhook_address


class ObjectVersions(MatchContext, Protocol):
    """A protocol for the conversion of objects to the API versions that webhooks match."""

    @property
    def around(self) -> StrategyContext:
        """The stored objects."""
        ...

    def converted(
        self, attributes: AdmissionAttributes, matched: MatchedResource
    ) -> AdmissionAttributes:
        """Return the same request with its objects in the API version of ``matched``."""
        ...

    def read(
        self, document: Any, attributes: AdmissionAttributes, matched: MatchedResource
    ) -> Object:
        """Return the object in ``document``, a patched object, with defaults applied.

        The object stays in the API version of ``matched``. Raises ``StatusError`` for an invalid
        object.
        """
        ...

    def authorizer(self, user: User) -> CelAuthorizer:
        """Return the authorizer with which CEL expressions check the permissions of ``user``."""
        ...

    def returned(
        self, obj: Object, attributes: AdmissionAttributes, matched: MatchedResource
    ) -> Object:
        """Return ``obj``, in the API version of ``matched``, converted to that of the request."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookDispatcher:
    """Processes the webhooks of one request, with the webhook responses received so far."""

    versions: ObjectVersions
    responses: WebhookResponses
    warnings: list[str]

    def mutated(
        self,
        attributes: AdmissionAttributes,
        webhooks: Sequence[Webhook],
        *,
        again: Callable[[Object], Object],
    ) -> AdmissionAttributes:
        """Return the request after all mutating webhooks, which are called one after the other.

        Each webhook receives the changes of the previous webhooks. When a webhook changes the
        object, the previous webhooks with ``reinvocationPolicy: IfNeeded`` are called once more.
        Before these second calls, ``again`` applies the server's own admission plugins to the
        object.
        """
        invoked: set[object] = set()
        to_reinvoke: set[object] = set()
        is_changed = False
        for webhook in webhooks:
            attributes, called, changed = self._call(attributes, webhook, reinvocation=False)
            if changed:
                is_changed = True
                to_reinvoke |= invoked
                invoked.clear()
            if called and webhook.is_reinvocable:
                invoked.add(webhook.identity)
        if not is_changed or attributes.obj is None:
            return attributes
        before = attributes.obj
        attributes = replace(attributes, obj=again(before))
        if attributes.obj != before:
            to_reinvoke |= invoked
            invoked.clear()
        for webhook in webhooks:
            if webhook.identity not in to_reinvoke:
                continue
            attributes, called, changed = self._call(attributes, webhook, reinvocation=True)
            if changed:
                to_reinvoke |= invoked
                invoked.clear()
            if called and webhook.is_reinvocable:
                invoked.add(webhook.identity)
        return attributes

    def _call(
        self, attributes: AdmissionAttributes, webhook: Webhook, *, reinvocation: bool
    ) -> tuple[AdmissionAttributes, bool, bool]:
        """Return the request after one webhook.

        The second value is whether the webhook was called, the third whether it changed the object.
        """
        matched = self._match(attributes, webhook)
        if matched is None:
            return attributes, False, False
        seen = self.versions.converted(attributes, matched)
        try:
            _check_dry_run(webhook, attributes)
            review = self._review(webhook, seen, matched, reinvocation=reinvocation)
            if review.key not in self.responses:
                raise NeedsWebhook([review])
            verdict = self._verdict(review, mutating=True)
            operations = _operations(verdict)
        except CallFailed as failure:
            if webhook.ignores_failure:
                return attributes, True, False
            raise _failed(webhook, failure) from None
        if not operations:
            return attributes, True, False
        if seen.obj is None:
            raise internal_error(
                f'admission webhook "{webhook.name}" attempted to modify the object,'
                " which is not supported for this operation"
            )
        try:
            document = patched(seen.obj, operations)
        except PatchFailed as problem:
            raise internal_error(str(problem)) from None
        made = self.versions.read(document, seen, matched)
        if made == seen.obj:
            return attributes, True, False
        returned = self.versions.returned(made, attributes, matched)
        return replace(attributes, obj=returned), True, True

    def check(self, attributes: AdmissionAttributes, webhooks: Sequence[Webhook]) -> None:
        """Call all validating webhooks concurrently.

        Raises the error of the first webhook, in the order of ``webhooks``, that denies the
        request.
        """
        reviews = [
            (webhook, self._review_or_error(webhook, attributes, matched))
            for webhook in webhooks
            if (matched := self._match(attributes, webhook)) is not None
        ]
        unknown = [
            review
            for _, review in reviews
            if isinstance(review, AdmissionReview) and review.key not in self.responses
        ]
        if unknown:
            raise NeedsWebhook(unknown)
        denials = [self._denial_of(webhook, review) for webhook, review in reviews]
        for denial in denials:
            if denial is not None:
                raise denial

    def _review_or_error(
        self, webhook: Webhook, attributes: AdmissionAttributes, matched: MatchedResource
    ) -> AdmissionReview | CallFailed | StatusError:
        try:
            _check_dry_run(webhook, attributes)
            seen = self.versions.converted(attributes, matched)
            return self._review(webhook, seen, matched, reinvocation=False)
        except (CallFailed, StatusError) as problem:
            return problem

    def _denial_of(
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
        except StatusError as denial:
            return denial
        return None

    def _match(self, attributes: AdmissionAttributes, webhook: Webhook) -> MatchedResource | None:
        matched = webhook.matching.match(attributes, self.versions)
        if matched is None or not webhook.conditions:
            return matched
        seen = self.versions.converted(attributes, matched)
        values = values_of(attributes, seen, matched, authorizers=self.versions.authorizer)
        try:
            return matched if webhook.conditions.all_match(values) else None
        except ConditionFailed as problem:
            raise forbidden(attributes.group_resource, attributes.name, str(problem)) from None

    def _review(
        self,
        webhook: Webhook,
        seen: AdmissionAttributes,
        matched: MatchedResource,
        *,
        reinvocation: bool,
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
        request = request_of(seen, matched)
        return AdmissionReview(
            webhook=webhook, request=request, address=address, reinvocation=reinvocation
        )

    def _verdict(self, review: AdmissionReview, *, mutating: bool) -> AdmissionResponse:
        """Return the webhook's response to ``review``, and collect its warnings.

        Raises an error if the webhook denies the request.
        """
        webhook = review.webhook
        verdict = response_of(self.responses[review.key], webhook, mutating=mutating)
        self.warnings.extend(filter(None, verdict.warnings))
        if not verdict.allowed:
            raise denied(webhook, verdict.status)
        return verdict


def _check_dry_run(webhook: Webhook, attributes: AdmissionAttributes) -> None:
    if not attributes.dry_run or webhook.may_run_dry:
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
