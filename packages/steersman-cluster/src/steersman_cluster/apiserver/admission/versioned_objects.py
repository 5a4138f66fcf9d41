"""The objects of one write request, converted between API versions.

Each webhook or policy receives them in the API version that it matches.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from steersman.names import GroupResource, GroupVersionKind, GroupVersionResource
from steersman_cluster.apiserver import authz, cel
from steersman_cluster.apiserver.admission.attributes import AdmissionAttributes
from steersman_cluster.apiserver.admission.matcher import MatchedResource
from steersman_cluster.apiserver.meta.status_errors import StatusError, internal_error
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext
from steersman_cluster.apiserver.meta.users import AUTHENTICATED, User, account_groups, account_user
from steersman_cluster.apiserver.request.body_types import BodyTypes
from steersman_cluster.apiserver.request.negotiation import JSON
from steersman_cluster.apiserver.request.resources import (
    ResourceRegistry,
    ServedResource,
    WebhookResponses,
)
from steersman_cluster.apiserver.schema.serializer.decoder import decode

UNPROCESSABLE = 422

# The decoder's message around the reason. Errors of patched objects contain only the reason.
_DECODER_PREFIX = re.compile(
    r"the object provided is unrecognized \(must be of type \w+\): (?P<unread>.*) \(.*\)"
    r'|\w* in version "[^"]*" cannot be handled as a \w+: (?P<unfit>.*)',
    re.DOTALL,
)
_ASKED = ("verb", "path", "group", "resource", "subresource", "namespace", "name")


class VersionedObjects:
    """Converts the objects of one write request between API versions.

    It also gives matching and CEL expressions access to the stored objects.
    """

    def __init__(
        self,
        served: ServedResource,
        responses: WebhookResponses,
        store: StrategyContext,
        registry: ResourceRegistry,
        *,
        authorizer: authz.Authorizer,
        body_types: BodyTypes,
    ) -> None:
        self._authorizer = authorizer
        self._served = served
        self._responses = responses
        self._store = store
        self._registry = registry
        self._body_types = body_types

    @property
    def around(self) -> StrategyContext:
        """The stored objects."""
        return self._store

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        """Return the stored object ``name`` of ``resource``, or None."""
        return self._store.find(resource, namespace, name)

    def equivalents(
        self, resource: GroupVersionResource, subresource: str
    ) -> Iterator[MatchedResource]:
        """Yield the resources that serve the same objects as ``resource``.

        They differ from ``resource`` in the API group, the API version or the resource name.
        """
        for each in self._registry:
            if each.stored_as == self._served.stored_as:
                gvk = each.gvk
                found = GroupVersionResource(gvk.group, gvk.version, each.plural)
                if found != resource and (not subresource or subresource in each.subresources):
                    yield MatchedResource(found, each.kind_of(subresource))

    def authorizer(self, user: User) -> cel.CelAuthorizer:
        """Return the authorizer for CEL expressions.

        It checks the permissions of ``user``, or of the service account that the expression names.
        """

        def decide(
            about: Mapping[str, str], account: tuple[str, str] | None
        ) -> cel.AuthorizerDecision:
            values = {name: about[name] for name in _ASKED if name in about}
            who = user if account is None else _of_account(account)
            decision = self._authorizer.decide(who, authz.Attributes(**values))
            return cel.AuthorizerDecision(allowed=decision.allowed, reason=decision.reason)

        return cel.CelAuthorizer(decide=decide)

    def scope_of(self, kind: Mapping[str, str]) -> bool | None:
        """Whether objects of ``kind`` are namespaced; None if the kind does not exist."""
        found = self._of_kind(kind)
        return None if found is None else found.namespaced

    def every(self, kind: Mapping[str, str], namespace: str) -> Iterator[Object]:
        """Yield all objects of ``kind``, or only those in ``namespace`` if it is not empty."""
        if (served := self._of_kind(kind)) is not None:
            resource = served.group_resource
            for each in self._store.every(resource, namespace=namespace):
                yield served.from_stored(each)

    def _of_kind(self, kind: Mapping[str, str]) -> ServedResource | None:
        gvk = GroupVersionKind.of(kind["apiVersion"], kind["kind"])
        return next((each for each in self._registry if each.gvk == gvk), None)

    def _there(self, matched: MatchedResource) -> ServedResource:
        resource = matched.resource
        found = self._registry.find(resource.group, resource.version, resource.resource)
        if found is None:
            raise internal_error(f"unable to convert to {resource}: unknown kind")
        return (
            found if found.for_request is None else found.for_request(self._responses, self._store)
        )

    def converted(
        self, attributes: AdmissionAttributes, matched: MatchedResource
    ) -> AdmissionAttributes:
        """Return the same request with its objects in the API version of ``matched``."""
        if matched.kind == attributes.kind:
            return attributes
        there = self._there(matched)
        return replace(
            attributes,
            obj=None if attributes.obj is None else _converted(attributes.obj, self._served, there),
            old=None if attributes.old is None else _converted(attributes.old, self._served, there),
        )

    def read(
        self, document: Any, attributes: AdmissionAttributes, matched: MatchedResource
    ) -> Object:
        """Return the object in ``document``, a patched object, with defaults applied.

        The object stays in the API version of ``matched``. Raises ``StatusError`` for an invalid
        object.
        """
        there = self._there(matched)
        expected = self._body_types.of(there, attributes.subresource)
        try:
            obj = decode(msgspec.json.encode(document), expected, content_type=JSON).obj
        except StatusError as error:
            if error.code == UNPROCESSABLE:
                raise
            found = _DECODER_PREFIX.fullmatch(error.message)
            why = error.message if found is None else found["unread"] or found["unfit"]
            if why.startswith("converting "):
                raise StatusError(500, "", why) from None
            raise internal_error(why) from None
        if matched.kind == there.gvk:
            there.strategy.default(obj)
        return obj

    def returned(
        self, obj: Object, attributes: AdmissionAttributes, matched: MatchedResource
    ) -> Object:
        """Return ``obj``, in the API version of ``matched``, converted to that of the request."""
        if matched.kind == attributes.kind:
            return obj
        return _converted(obj, self._there(matched), self._served)


def _converted(obj: Object, here: ServedResource, there: ServedResource) -> Object:
    fresh: Object = msgspec.json.decode(msgspec.json.encode(obj))
    made = there.from_stored(here.to_stored(fresh))
    return {**made, "kind": there.gvk.kind, "apiVersion": there.gvk.api_version}


def _of_account(account: tuple[str, str]) -> User:
    namespace, name = account
    groups = (*account_groups(namespace), AUTHENTICATED)
    return User(name=account_user(namespace, name), groups=groups)
