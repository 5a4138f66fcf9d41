"""The admission chain: webhooks and policies, applied to a write before it is stored."""

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Protocol

import msgspec

from steersman.names import GroupResource, GroupVersionResource
from steersman_cluster.apiserver.admission.attributes import (
    CREATE,
    DELETE,
    UPDATE,
    AdmissionAttributes,
)
from steersman_cluster.apiserver.admission.policies import Policy, policies_of
from steersman_cluster.apiserver.admission.policy_validation import PolicyValidator
from steersman_cluster.apiserver.admission.versioned_objects import VersionedObjects
from steersman_cluster.apiserver.admission.webhook_configurations import Webhook, webhooks_of
from steersman_cluster.apiserver.admission.webhook_dispatcher import WebhookDispatcher
from steersman_cluster.apiserver.apply.managed_fields import decoded_from_client, encoded
from steersman_cluster.apiserver.authz import Authorizer
from steersman_cluster.apiserver.meta import object_meta
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.body_types import BodyTypes
from steersman_cluster.apiserver.request.request_info import RequestInfo
from steersman_cluster.apiserver.request.resources import ResourceRegistry
from steersman_cluster.apiserver.storage import RevisionLog, View

_GROUP = "admissionregistration.k8s.io"
MUTATING = GroupResource(_GROUP, "mutatingwebhookconfigurations")
VALIDATING = GroupResource(_GROUP, "validatingwebhookconfigurations")
POLICIES = GroupResource(_GROUP, "validatingadmissionpolicies")
BINDINGS = GroupResource(_GROUP, "validatingadmissionpolicybindings")

_INVALID_MANAGED_FIELDS = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an"
    " outdated mutating admission controller; please fix your requests: {}"
)
_OPTIONS = {CREATE: "CreateOptions", UPDATE: "UpdateOptions"}


class AdmissionStore(StrategyContext, Protocol):
    """The stored objects, and the revision log, which shows when configurations have changed."""

    @property
    def log(self) -> RevisionLog: ...

    @property
    def view(self) -> View: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hooks:
    """The configured webhooks and policies."""

    mutating: tuple[Webhook, ...] = ()
    policies: tuple[Policy, ...] = ()
    validating: tuple[Webhook, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.mutating or self.policies or self.validating)


_NO_HOOKS = _Hooks()


class Admission:
    """The admission chain: calls webhooks and evaluates policies before a write."""

    def __init__(
        self,
        store: AdmissionStore,
        registry: ResourceRegistry,
        *,
        authorizer: Authorizer,
        body_types: BodyTypes,
        plugins: AbstractSet[str],
    ) -> None:
        self._store = store
        self._plugins = plugins
        self._registry = registry
        self._authorizer = authorizer
        self._body_types = body_types
        self._resource_logs = [
            store.log.resource_log(str(each)) for each in (MUTATING, VALIDATING, POLICIES, BINDINGS)
        ]
        self._interested = _Hooks()
        self._is_idle = True
        self._seen = 0

    @property
    def is_idle(self) -> bool:
        """Whether no webhooks and no policies are configured."""
        first, second, third, fourth = self._resource_logs
        # Each revision only grows, so the sum changes whenever one of them does. This runs for
        # every write, and must be cheap.
        if self._seen != (
            first.last_revision + second.last_revision + third.last_revision + fourth.last_revision
        ):
            self._read_configurations()
        return self._is_idle

    def _now(self) -> _Hooks:
        return _NO_HOOKS if self.is_idle else self._interested

    def _read_configurations(self) -> None:
        store = self._store
        self._interested = _Hooks(
            mutating=webhooks_of(self._every(MUTATING, "MutatingAdmissionWebhook")),
            policies=policies_of(
                self._every(POLICIES, "ValidatingAdmissionPolicy"), store.every(BINDINGS)
            ),
            validating=webhooks_of(self._every(VALIDATING, "ValidatingAdmissionWebhook")),
        )
        self._is_idle = not self._interested
        revisions = [each.last_revision for each in self._resource_logs]
        # If the view is behind the log, the next write reads the configurations again.
        self._seen = sum(revisions) if max(revisions) <= store.view.revision else -1

    def _every(self, resource: GroupResource, plugin: str) -> Iterable[Object]:
        """Return all objects of ``resource``; none if the admission plugin is turned off."""
        return self._store.every(resource) if plugin in self._plugins else ()

    def mutated(self, request: APIRequest, obj: Object, old: Object | None) -> Object:
        """Return ``obj`` after the mutating webhooks; ``obj`` itself if none changed it."""
        webhooks = self._now().mutating
        if not webhooks:
            return obj
        attributes = _attributes(request, obj, old)
        if attributes.is_exempt:
            return obj

        def again(made: Object) -> Object:
            fresh: Object = msgspec.json.decode(msgspec.json.encode(made))
            if not request.info.subresource:
                request.served.strategy.admit(fresh, old, self._store)
            return fresh

        made = self._caller(request).mutated(attributes, webhooks, again=again).obj
        if made is None or made is attributes.obj:
            return obj
        _repair_metadata(request, made["metadata"], obj["metadata"].get("managedFields"))
        return made

    def check(
        self,
        request: APIRequest,
        obj: Object,
        old: Object | None,
        *,
        admission_view: Callable[[Object], Object] | None = None,
    ) -> None:
        """Raise an error if a policy or a validating webhook denies the write.

        ``obj`` is the object to write and ``old`` the stored object, both in the form in which the
        strategy of their kind receives them. ``obj`` is complete: if the check passes, it is
        written without further changes. ``admission_view`` converts both objects to the form that
        policies and webhooks receive.
        """
        hooks = self._now()
        if not hooks.policies and not hooks.validating:
            return
        shown = _same if request.served.custom else request.served.from_stored
        obj, old = shown(obj), None if old is None else shown(old)
        if admission_view is not None:
            obj, old = admission_view(obj), None if old is None else admission_view(old)
        self._check(request, _attributes(request, obj, old), hooks)

    def _check(self, request: APIRequest, attributes: AdmissionAttributes, hooks: _Hooks) -> None:
        versions = self._versions(request)
        if hooks.policies:
            validator = PolicyValidator(
                versions=versions, parameters=versions, warnings=request.warnings
            )
            validator.check(attributes, hooks.policies)
        if hooks.validating and not attributes.is_exempt:
            caller = WebhookDispatcher(
                versions=versions, responses=request.webhook_responses, warnings=request.warnings
            )
            caller.check(attributes, hooks.validating)

    def check_delete(
        self, request: APIRequest, old: Object, options: Object, *, dry_run: bool
    ) -> None:
        """Raise an error if a policy or a validating webhook denies the deletion of ``old``."""
        hooks = self._now()
        if not hooks:
            return
        attributes = replace(_attributes(request, None, old), options=options, dry_run=dry_run)
        if hooks.mutating and not attributes.is_exempt:
            self._caller(request).mutated(attributes, hooks.mutating, again=_same)
        self._check(request, attributes, hooks)

    def _caller(self, request: APIRequest) -> WebhookDispatcher:
        versions = self._versions(request)
        return WebhookDispatcher(
            versions=versions, responses=request.webhook_responses, warnings=request.warnings
        )

    def _versions(self, request: APIRequest) -> VersionedObjects:
        return VersionedObjects(
            request.served,
            request.webhook_responses,
            self._store,
            self._registry,
            authorizer=self._authorizer,
            body_types=self._body_types,
        )


def _same(obj: Object) -> Object:
    return obj


def _attributes(request: APIRequest, obj: Object | None, old: Object | None) -> AdmissionAttributes:
    info, kind = request.info, request.served.kind_of(request.info.subresource)
    head = {"kind": kind.kind, "apiVersion": kind.api_version}
    operation = DELETE if obj is None else CREATE if old is None else UPDATE
    name = info.name
    if not name and obj is not None:
        name = obj["metadata"].get("name") or ""
    namespace = info.namespace
    if info.resource == "namespaces" and not info.group:
        namespace = namespace or name
    return AdmissionAttributes(
        operation=operation,
        kind=kind,
        resource=GroupVersionResource(info.group, info.version, info.resource),
        subresource=info.subresource,
        namespace=namespace,
        name=name,
        user=request.user,
        obj=None if obj is None else {**obj, **head},
        old=None if old is None else {**old, **head},
        options={} if obj is None else _options(info, _OPTIONS[operation]),
        dry_run=bool(info.query.get("dryRun")),
    )


def _options(info: RequestInfo, kind: str) -> Object:
    options: Object = {"kind": kind, "apiVersion": "meta.k8s.io/v1"}
    if dry_run := info.query.get("dryRun"):
        options["dryRun"] = dry_run
    for name in ("fieldManager", "fieldValidation"):
        if given := info.option(name):
            options[name] = given
    return options


def _repair_metadata(request: APIRequest, about: Object, before: Any) -> None:
    """Repair the metadata ``about``, which webhooks have changed, in place.

    Invalid managedFields are replaced by ``before``, and duplicate ownerReferences are dropped.
    """
    given = about.get("managedFields")
    try:
        managers = decoded_from_client(given or ())
    except (ValueError, KeyError, TypeError) as problem:
        about.pop("managedFields", None)
        if before:
            about["managedFields"] = before
        request.warnings.append(_INVALID_MANAGED_FIELDS.format(problem))
    else:
        if given and given != before:
            about["managedFields"] = encoded(managers)  # in canonical form
    request.warnings += [
        each.replace("duplicate entries;", "duplicate entries after mutating admission happens;")
        for each in object_meta.drop_repeated_owners(about)
    ]
