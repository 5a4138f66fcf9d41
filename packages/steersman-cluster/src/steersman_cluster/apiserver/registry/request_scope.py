"""The dependencies of request handlers: store, decoding, field management, admission."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import msgspec

from steersman.names import GroupResource
from steersman_cluster.apiserver.admission import Admission
from steersman_cluster.apiserver.apply import FieldManager
from steersman_cluster.apiserver.authn import ServiceAccountTokens
from steersman_cluster.apiserver.authz import Authorizer, Escalation, attributes_of, authorize
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.registry.builtin_resources import FieldManagers
from steersman_cluster.apiserver.registry.store import Store
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.body_types import BodyTypes, body_part
from steersman_cluster.apiserver.request.delete_options import DeleteOptions
from steersman_cluster.apiserver.request.request_info import RequestInfo
from steersman_cluster.apiserver.request.resources import ResourceRegistry, ServedResource
from steersman_cluster.apiserver.request.response_encoders import WHOLE
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.serializer.decoder import BodyDecoder
from steersman_cluster.apiserver.storage import Entry
from steersman_cluster.apiserver.webhooks import RequestRunner


class APIResponse(NamedTuple):
    """The status code and the encoded body of a response; the server adds the media type."""

    status: int
    body: bytes


class RequestScope:
    """The dependencies of request handlers, created once for each server."""

    def __init__(
        self,
        store: Store,
        resources: ResourceRegistry,
        subresources: Mapping[tuple[GroupResource, str], ServedResource],
        *,
        body_types: BodyTypes,
        field_managers: FieldManagers,
        admission: Admission,
        authorizer: Authorizer,
        account_tokens: ServiceAccountTokens,
        webhooks: RequestRunner,
    ) -> None:
        self.store = store
        self.admission = admission
        self.account_tokens = account_tokens
        self.webhooks = webhooks
        self._resources = resources
        self._subresources = subresources  # subresources with their own strategy
        self._body_types = body_types
        self._field_managers = field_managers
        self._authorizer = authorizer
        self._escalation = Escalation(authorizer)

    def resolve(self, request: APIRequest) -> APIRequest:
        """Return ``request`` with the ``ServedResource`` that handles it.

        The resource has the strategy of the requested subresource. If a webhook converts the
        objects, the resource uses the webhook responses of this request.
        """
        served, info = request.registered, request.info
        if info.subresource:
            served = self._subresources.get((served.group_resource, info.subresource), served)
        if served.for_request is not None:
            served = served.for_request(request.webhook_responses, self.store)
        if served is request.served:
            return request
        return msgspec.structs.replace(request, served=served)

    def request_for(self, request: APIRequest, info: RequestInfo) -> APIRequest:
        """Return a request for the object that ``info`` names.

        The server handles the returned request as part of ``request``.
        """
        served = self._resources.versions(info.group_resource)[0]
        other = msgspec.structs.replace(
            request, info=info, registered=served, served=served, encoder=WHOLE, whole_floats=()
        )
        return self.resolve(other)

    def expected(self, request: APIRequest) -> BodyDecoder:
        """Return the decoder of the request's body."""
        return self._body_types.of(request.registered, body_part(request.info.subresource))

    def schema(self, request: APIRequest) -> Schema:
        """Return the schema of the request's body and of its response."""
        return self._body_types.schema(request)

    def field_manager(self, request: APIRequest) -> FieldManager:
        """Return the field manager of the request's resource."""
        return self._field_managers.of(request.registered, body_part(request.info.subresource))

    def delete_options(self, request: APIRequest) -> DeleteOptions:
        """Return the delete options in the request's body or query."""
        return DeleteOptions.of(
            request.info,
            request.body,
            content_type=request.content_type,
            expected=self._body_types.delete_options,
        )

    def entry(self, request: APIRequest) -> Entry | None:
        """Return the stored entry of the request's object."""
        return self.store.entry(request.served, request.info.namespace, request.info.name)

    def versions(self, request: APIRequest) -> list[ServedResource]:
        """Return the request's resource in every version."""
        return self._resources.versions(request.served.group_resource)

    def authorize(self, request: APIRequest, verb: str) -> None:
        """Reject the request unless its user also has permission for ``verb`` on its object."""
        attributes = msgspec.structs.replace(attributes_of(request.info), verb=verb)
        authorize(self._authorizer, request.user, attributes)

    def check_grant(self, request: APIRequest, obj: Object, old: Object | None) -> None:
        """Reject the role or binding ``obj`` if it grants permissions that the user lacks.

        ``old`` is the object that ``obj`` replaces; the user is that of ``request``.
        """
        if self._escalation.is_about(request.info.group):
            self._escalation.check(request.user, attributes_of(request.info), obj, old)


Handler: TypeAlias = Callable[[APIRequest, RequestScope], APIResponse]
