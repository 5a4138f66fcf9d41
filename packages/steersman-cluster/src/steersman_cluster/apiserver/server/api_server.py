"""The API server: the chain from a request to its reply, over any transport."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import msgspec

from steersman.clock import Clock
from steersman.names import GroupResource, ResourceType
from steersman.observe import Observer, ResponseFailed
from steersman.units import format_time
from steersman.wire import CertificateIdentity, Reply, Request
from steersman_cluster.apiserver.admission import Admission
from steersman_cluster.apiserver.authn import Authenticator, ServiceAccountTokens
from steersman_cluster.apiserver.authz import (
    Attributes,
    Authorizer,
    ImpersonationHandler,
    attributes_of,
    authorize,
)
from steersman_cluster.apiserver.builtin.cluster.approvals import SIGNING_REQUEST_APPROVAL
from steersman_cluster.apiserver.builtin.cluster.namespaces import NAMESPACE_FINALIZE, NAMESPACES
from steersman_cluster.apiserver.builtin.network.service_network import ServiceNetwork
from steersman_cluster.apiserver.builtin.pods.pod_parts import POD_DEBUGGING, POD_RESIZING
from steersman_cluster.apiserver.custom import DEFINITIONS
from steersman_cluster.apiserver.meta import object_meta, status_errors
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.users import ADMINISTRATORS, User
from steersman_cluster.apiserver.registry.access_reviews import AccessReviews
from steersman_cluster.apiserver.registry.bodies import read_body
from steersman_cluster.apiserver.registry.builtin_resources import (
    FieldManagers,
    builtin_resources_with,
)
from steersman_cluster.apiserver.registry.definitions import DefinitionController
from steersman_cluster.apiserver.registry.dispatcher import (
    check_scope,
    dispatch,
    is_out_of_scope,
    not_allowed,
)
from steersman_cluster.apiserver.registry.initial_objects import create_initial_objects
from steersman_cluster.apiserver.registry.managed_objects import TRIGGERS, ManagedObjects
from steersman_cluster.apiserver.registry.request_scope import APIResponse, RequestScope
from steersman_cluster.apiserver.registry.store import TOO_DEEP, Store
from steersman_cluster.apiserver.request import replies
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.body_types import BodyTypes
from steersman_cluster.apiserver.request.negotiation import (
    PLAIN,
    ResponseFormat,
    error_language,
    negotiate,
    patch_type,
    wants_plain,
)
from steersman_cluster.apiserver.request.options import WriteOptions, check_deadline
from steersman_cluster.apiserver.request.request_info import RequestInfo, parse_request_info
from steersman_cluster.apiserver.request.resources import ResourceRegistry, ServedResource
from steersman_cluster.apiserver.request.response_encoders import ResponseEncoder
from steersman_cluster.apiserver.schema.builtin_schemas import OBJECT_META, BuiltinSchemas
from steersman_cluster.apiserver.schema.protobuf.messages import PROTOBUF
from steersman_cluster.apiserver.server.compaction import Compactor
from steersman_cluster.apiserver.server.metrics import RequestMeasurement, ServerMetrics
from steersman_cluster.apiserver.server.nonresource_paths import NonResourcePaths
from steersman_cluster.apiserver.server.options import ServerOptions
from steersman_cluster.apiserver.storage import RevisionLog
from steersman_cluster.apiserver.tables import table_of
from steersman_cluster.apiserver.webhooks import NeedsWebhook, RequestRunner, WebhookTransport

if TYPE_CHECKING:
    from steersman_cluster.apiserver.server.metrics_page import (
        MetricsPage,  # which needs Prometheus' library
    )

METRICS = "/metrics"

# kube-apiserver's limit; etcd's limit is half of it.
MAX_BODY_BYTES = 3 * 1024 * 1024

_PODS = GroupResource("", "pods")
_SIGNING_REQUESTS = GroupResource("certificates.k8s.io", "certificatesigningrequests")
# Subresources that return the whole object and change only a part of it.
_SUBRESOURCE_STRATEGIES = (
    (NAMESPACES, "finalize", NAMESPACE_FINALIZE),
    (_PODS, "ephemeralcontainers", POD_DEBUGGING),
    (_SIGNING_REQUESTS, "approval", SIGNING_REQUEST_APPROVAL),
    (_PODS, "resize", POD_RESIZING),
)
_READS = frozenset(("get", "list", "watch"))
FORBIDDEN = 403
_SERVICES = GroupResource("", "services")


class ApiServer:
    """The Kubernetes API over one revision log.

    The server starts no thread and no task: the expiry of objects, the compaction of the log and
    the server's own controllers run while it handles requests. If ``has_initial_objects`` is true,
    the log already contains the initial objects, and the server does not create them.
    """

    def __init__(
        self,
        *,
        log: RevisionLog,
        tokens: Mapping[str, User],
        clock: Clock,
        rng: Random,
        observe: Observer,
        outbound: WebhookTransport,
        options: ServerOptions = ServerOptions(),
        has_initial_objects: bool = False,
    ) -> None:
        self._observe = observe
        self._runner = RequestRunner(outbound, clock=clock, rng=rng)
        clock, rng = self._runner.clock, self._runner.rng
        self.store = Store(log, clock=clock, rng=rng)
        self.compactor = Compactor(log, clock=clock)
        schemas = BuiltinSchemas.read()
        network = ServiceNetwork(
            rng=rng,
            addresses=options.service_cluster_ip_range,
            ports=options.service_node_port_range,
        )
        self.registry = ResourceRegistry(
            builtin_resources_with(schemas, network, plugins=options.admission_plugins)
        )
        subresources = {
            (resource, name): replace(self._served(resource), strategy=strategy)
            for resource, name, strategy in _SUBRESOURCE_STRATEGIES
        }
        body_types = BodyTypes(schemas)
        self._field_managers = FieldManagers(self.registry, schemas)
        account_tokens = ServiceAccountTokens(self.store, options.token_issuers)
        self._authenticator = Authenticator(
            tokens, account_tokens, anonymous=options.anonymous_auth
        )
        self._authorizer = Authorizer(self.store, modes=options.authorization_mode)
        self._impersonation = ImpersonationHandler(self._authorizer)
        self._reviews = AccessReviews(self._authenticator, self._authorizer, clock=clock)
        self._definitions = DefinitionController(
            self.store,
            self.registry,
            strategy=self._served(DEFINITIONS).strategy,
            object_meta=schemas.named(OBJECT_META),
            status=self._field_managers.of(self._served(DEFINITIONS), "status"),
        )
        self._scope = RequestScope(
            self.store,
            self.registry,
            subresources,
            body_types=body_types,
            field_managers=self._field_managers,
            admission=Admission(
                self.store,
                self.registry,
                authorizer=self._authorizer,
                body_types=body_types,
                plugins=options.admission_plugins,
            ),
            authorizer=self._authorizer,
            account_tokens=account_tokens,
            webhooks=self._runner,
        )
        self.metrics = ServerMetrics()
        self._metrics_page: MetricsPage | None = None
        self._start_time = clock.now()
        self._nonresource_paths = NonResourcePaths(
            self.registry,
            schemas,
            account_tokens=account_tokens,
            server_address=f"{options.advertise_address}:{options.secure_port}",
        )
        network.rebuild(self.store.every(_SERVICES))
        if not has_initial_objects:
            create_initial_objects(
                self.store,
                self.registry,
                address=options.advertise_address,
                port=options.secure_port,
                client_ca=options.client_ca,
                service_addresses=options.service_cluster_ip_range,
                field_managers=self._field_managers,
            )
        self._definitions.sync()
        self._managed_objects = ManagedObjects(
            self.store, self.registry, network=network, field_managers=self._field_managers
        )
        self._managed_objects.sync()

    def on_first_write(self, kind: ResourceType, call: Callable[[], None]) -> bool:
        """Call ``call`` at the first write of an object of ``kind``, and return True.

        If such an object already exists, returns False, and never calls ``call``.
        """
        return self.store.on_first_write(GroupResource(kind.gvk.group, kind.plural), call)

    async def handle(
        self,
        request: Request,
        *,
        certificate: CertificateIdentity | None = None,
        measurement: RequestMeasurement | None = None,
    ) -> Reply:
        """Return the reply to ``request``; every error becomes a reply, too.

        ``certificate`` is the client certificate of the connection, ``measurement`` counts the
        request.
        """
        info = parse_request_info(request)
        warnings: list[str] = []
        pretty, is_authorized = replies.is_pretty(request, info), False
        try:
            self.compactor.compact()
            if "timeout" in info.query:
                check_deadline(info)
            attributes = attributes_of(info)
            user = self._user(request, certificate, attributes)
            authorize(self._authorizer, user, attributes)
            is_authorized = True
            served = self.registry.find(info.group, info.version, info.resource)
            if info.resource and (served is None or is_out_of_scope(info, served)):
                reply = self._not_found(info)
            elif served is not None:
                if measurement is not None and (
                    not info.subresource or info.subresource in served.subresources
                ):
                    measurement.reach_resource(info)
                if served.custom and served.deprecation:
                    warnings.append(served.deprecation)  # even if no media type is acceptable
                response_format = (
                    PLAIN
                    if wants_plain(request)
                    else self._response_format(request, info, served, warnings)
                )
                webhook_responses = self._runner.begin()
                api_request = APIRequest(
                    http=request,
                    info=info,
                    user=user,
                    registered=served,
                    served=served,
                    encoder=response_format.encoder,
                    webhook_responses=webhook_responses,
                    warnings=warnings,
                )
                try:
                    response = self._handle(api_request)
                except NeedsWebhook as missing:
                    response = await self._runner.run_again(
                        lambda _: self._handle(api_request), missing, webhook_responses
                    )
                if isinstance(response, AsyncGenerator):
                    lines = self._watch_stream(response, request, response_format.encoder)
                    language = response_format.language
                    if measurement is not None:
                        lines = measurement.watched(lines, is_framed=language == PROTOBUF)
                    headers = replies.STREAMS[language]
                    reply = Reply(status=200, headers=headers, stream=lines)
                else:
                    reply = replies.document(
                        response.status,
                        response.body,
                        language=response_format.language,
                        pretty=pretty,
                    )
            else:
                if measurement is not None:
                    measurement.reach_path(info.path)
                reply = self._nonresource_reply(request, info)
        except StatusError as error:
            reply = replies.error_reply(error, language=error_language(request), pretty=pretty)
            if error.code == FORBIDDEN and not is_authorized:
                reply = replies.not_sniffed(reply)
        except RecursionError:
            reply = replies.error_reply(status_errors.bad_request(TOO_DEEP))
        except Exception as error:  # noqa: BLE001 - other requests continue
            reply = replies.error_reply(self._failure(request, error))
        if request.method == "HEAD":
            reply = msgspec.structs.replace(reply, body=b"")
        return replies.with_warnings(reply, warnings)

    def _response_format(
        self, request: Request, info: RequestInfo, served: ServedResource, warnings: list[str]
    ) -> ResponseFormat:
        try:
            return negotiate(
                request,
                custom=served.custom,
                watches=info.verb == "watch",
                lists=info.verb in ("list", "watch"),
                table=partial(table_of, info, served, clock=self.store.clock),
            )
        except StatusError as error:
            # An error without details comes from the resource, which warns before it rejects.
            if served.deprecation and not served.custom and error.details is None:
                warnings.append(served.deprecation)
            raise

    async def _watch_stream(
        self, lines: AsyncGenerator[bytes, None], request: Request, encoder: ResponseEncoder
    ) -> AsyncGenerator[bytes, None]:
        """Yield the lines of a watch; an error is the last line."""
        async with aclosing(lines):
            try:
                async for each in lines:
                    yield each
            except StatusError as error:
                yield encoder.failure(error.status())
            except Exception as error:  # noqa: BLE001 - as above
                yield encoder.failure(self._failure(request, error).status())

    def _failure(self, request: Request, error: Exception) -> StatusError:
        self._observe(ResponseFailed(method=request.method, path=request.path, error=error))
        return status_errors.internal_error("the server failed to handle the request; see its log")

    def _not_found(self, info: RequestInfo) -> Reply:
        """Return the reply for a resource that is not served.

        For a built-in group, the reply is a Status; for any other group, it is plain text.
        """
        if self.registry.is_remote(info.group, info.version):
            return replies.unavailable()
        if self.registry.is_builtin(info.group):
            raise status_errors.no_such_path()
        return replies.path_not_found()

    def _nonresource_reply(self, request: Request, info: RequestInfo) -> Reply:
        """Return the reply for a non-resource path."""
        if info.path == METRICS and request.method in ("GET", "HEAD"):
            if self._metrics_page is None:
                from steersman_cluster.apiserver.server.metrics_page import MetricsPage

                self._metrics_page = MetricsPage(
                    self.metrics, self.store, self.registry, start_time=self._start_time
                )
            return self._metrics_page.reply()
        return self._nonresource_paths.handle(request, info)

    def _served(self, resource: GroupResource) -> ServedResource:
        return self.registry.versions(resource)[0]

    def _user(
        self, request: Request, certificate: CertificateIdentity | None, wanted: Attributes
    ) -> User:
        user = self._authenticator.user(request, certificate)
        return self._impersonation.impersonated_user(request, user, wanted)

    def _handle(self, request: APIRequest) -> APIResponse | AsyncGenerator[bytes, None]:
        http, info, registered = request.http, request.info, request.registered
        # An earlier run, which stopped at a missing webhook response, may have set these.
        request.warnings.clear()
        request.whole_floats = ()
        if http.body is not None and len(http.body) > MAX_BODY_BYTES:
            raise status_errors.too_large(f"limit is {MAX_BODY_BYTES}")
        if registered.custom and registered.deprecation:
            request.warnings.append(registered.deprecation)
        check_scope(info, registered)
        request = self._scope.resolve(request)
        served = request.served
        if not served.custom and served.deprecation and _is_offered(info, registered):
            if info.verb == "patch":
                patch_type(http, custom=False)  # an unknown patch type gets no warning
            request.warnings.append(served.deprecation)
        if not served.custom and self._reviews.serves(info.resource):
            return self._review(request)
        try:
            return dispatch(request, self._scope)
        finally:  # the write is in the log even if the response cannot be encoded
            if info.verb not in _READS:
                self._sync(served)

    def _sync(self, served: ServedResource) -> None:
        """Run the server's own controllers after a write to ``served``."""
        resource = served.group_resource
        if served.custom or resource == DEFINITIONS:
            before = self.registry.revision
            self._definitions.sync()
            if self.registry.revision == before:
                return
        elif resource not in TRIGGERS:
            return
        self._managed_objects.sync()

    def _review(self, request: APIRequest) -> APIResponse:
        info = request.info
        if info.name:
            raise status_errors.no_such_path()
        if info.verb != "create":
            raise not_allowed()
        options = WriteOptions.of(info, kind="CreateOptions")
        review = read_body(request, self._scope, options, request.content_type)
        object_meta.set_namespace(review["metadata"], info.namespace)
        object_meta.clear_system_fields(review["metadata"])
        self._scope.field_manager(request).update(
            None,
            review,
            manager=options.field_manager or request.agent,
            time=format_time(self.store.clock.now()),
        )
        review = self._scope.admission.mutated(request, review, None)
        self._scope.admission.check(request, review, None)
        reviewed = self._reviews.review(request.served.plural, review, user=request.user)
        return APIResponse(201, request.encoder.other(reviewed))


def _is_offered(info: RequestInfo, served: ServedResource) -> bool:
    """Whether the resource has a route for the request; list and watch share one."""
    return info.verb in served.verbs or info.verb == "watch"


def administrator() -> User:
    """Return a user with all permissions."""
    return User(name="admin", uid="admin", groups=(ADMINISTRATORS,))
