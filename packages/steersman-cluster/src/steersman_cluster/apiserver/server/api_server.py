"""The API server: a request in, an answer out, over any transport."""

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
from steersman.wire import ClientCertificate, Reply, Request
from steersman_cluster.apiserver.admission import Admission
from steersman_cluster.apiserver.authn import Authenticator, ServiceAccountTokens
from steersman_cluster.apiserver.authz import (
    Attributes,
    Authorizer,
    Impersonation,
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
    check_place,
    dispatch,
    is_out_of_scope,
    not_allowed,
)
from steersman_cluster.apiserver.registry.initial_objects import create_initial_objects
from steersman_cluster.apiserver.registry.managed_objects import TRIGGERS, ManagedObjects
from steersman_cluster.apiserver.registry.request_scope import Answer, RequestScope
from steersman_cluster.apiserver.registry.store import TOO_DEEP, Store
from steersman_cluster.apiserver.request import replies
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.body_types import BodyTypes
from steersman_cluster.apiserver.request.negotiation import (
    PLAIN,
    ResponseFormat,
    patch_type,
    refusal_language,
    response_format,
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

# What a real server takes; etcd's own limit is half of it.
LARGEST_BODY = 3 * 1024 * 1024

_PODS = GroupResource("", "pods")
_SIGNING_REQUESTS = GroupResource("certificates.k8s.io", "certificatesigningrequests")
# Subresources that show the whole object, and let only a part of it be changed.
_WITH_RULES_OF_THEIR_OWN = (
    (NAMESPACES, "finalize", NAMESPACE_FINALIZE),
    (_PODS, "ephemeralcontainers", POD_DEBUGGING),
    (_SIGNING_REQUESTS, "approval", SIGNING_REQUEST_APPROVAL),
    (_PODS, "resize", POD_RESIZING),
)
_READS = frozenset(("get", "list", "watch"))
FORBIDDEN = 403
_SERVICES = GroupResource("", "services")


class ApiServer:
    """Kubernetes' API over one revision log.

    It has no thread and no task of its own: time passes for it when it is asked something. Whatever
    a server puts in place at its start is in the log already if that ``is_furnished``.
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
        address: str = "127.0.0.1",
        port: int = 443,
        client_ca: str = "",
        options: ServerOptions = ServerOptions(),
        is_furnished: bool = False,
    ) -> None:
        self._observe = observe
        self._runner = RequestRunner(outbound, clock=clock, rng=rng)
        clock, rng = self._runner.clock, self._runner.rng
        self.store = Store(log, clock=clock, rng=rng)
        self.compactor = Compactor(log, clock=clock)
        schemas = BuiltinSchemas.read()
        network = ServiceNetwork(
            rng=rng, addresses=options.service_addresses, ports=options.node_ports
        )
        self.registry = ResourceRegistry(
            builtin_resources_with(schemas, network, plugins=options.plugins)
        )
        subresources = {
            (resource, name): replace(self._serving(resource), rules=own)
            for resource, name, own in _WITH_RULES_OF_THEIR_OWN
        }
        body_types = BodyTypes(schemas)
        self._field_managers = FieldManagers(self.registry, schemas)
        account_tokens = ServiceAccountTokens(self.store, options.issuing)
        self._authenticator = Authenticator(tokens, account_tokens, anonymous=options.anonymous)
        self._authorizer = Authorizer(self.store, modes=options.authorization)
        self._impersonation = Impersonation(self._authorizer)
        self._reviews = AccessReviews(self._authenticator, self._authorizer, clock=clock)
        self._definitions = DefinitionController(
            self.store,
            self.registry,
            rules=self._serving(DEFINITIONS).rules,
            object_meta=schemas.named(OBJECT_META),
            status=self._field_managers.of(self._serving(DEFINITIONS), "status"),
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
                plugins=options.plugins,
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
            server_address=f"{address}:{port}",
        )
        network.rebuild(self.store.every(_SERVICES))
        if not is_furnished:
            create_initial_objects(
                self.store,
                self.registry,
                address=address,
                port=port,
                client_ca=client_ca,
                service_addresses=options.service_addresses,
                field_managers=self._field_managers,
            )
        self._definitions.settle()
        self._managed_objects = ManagedObjects(
            self.store, self.registry, network=network, field_managers=self._field_managers
        )
        self._managed_objects.settle()

    def on_first_write(self, kind: ResourceType, call: Callable[[], None]) -> bool:
        """Call ``call`` when the first object of a kind is written, unless there is one already.

        Returns whether it will be called.
        """
        return self.store.on_first_write(GroupResource(kind.gvk.group, kind.plural), call)

    async def handle(
        self,
        request: Request,
        *,
        certificate: ClientCertificate | None = None,
        measurement: RequestMeasurement | None = None,
    ) -> Reply:
        """The answer to a request; whatever goes wrong is one too."""
        info = parse_request_info(request)
        warnings: list[str] = []
        pretty, is_authorized = replies.wants_layout(request, info), False
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
                reply = self._nowhere(info)
            elif served is not None:
                if measurement is not None and (
                    not info.subresource or info.subresource in served.subresources
                ):
                    measurement.reach_resource(info)
                if served.custom and served.deprecation:
                    warnings.append(served.deprecation)  # even if no answer is acceptable
                wished = (
                    PLAIN if wants_plain(request) else self._wished(request, info, served, warnings)
                )
                answers = self._runner.begin()
                wanted = APIRequest(
                    http=request,
                    info=info,
                    user=user,
                    registered=served,
                    served=served,
                    encoder=wished.encoder,
                    webhook_answers=answers,
                    warnings=warnings,
                )
                try:
                    answer = self._answer(wanted)
                except NeedsWebhook as missing:
                    answer = await self._runner.run_again(
                        lambda _: self._answer(wanted), missing, answers
                    )
                if isinstance(answer, AsyncGenerator):
                    lines = self._watched(answer, request, wished.encoder)
                    if measurement is not None:
                        lines = measurement.watched(lines, is_framed=wished.language == PROTOBUF)
                    headers = replies.STREAMS[wished.language]
                    reply = Reply(status=200, headers=headers, stream=lines)
                else:
                    reply = replies.document(
                        answer.status, answer.body, language=wished.language, pretty=pretty
                    )
            else:
                if measurement is not None:
                    measurement.reach_path(info.path)
                reply = self._about_itself(request, info)
        except StatusError as refusal:
            reply = replies.refused(refusal, language=refusal_language(request), pretty=pretty)
            if refusal.code == FORBIDDEN and not is_authorized:
                reply = replies.not_sniffed(reply)
        except RecursionError:
            reply = replies.refused(status_errors.bad_request(TOO_DEEP))
        except Exception as error:  # noqa: BLE001 - one request's fault is no other's
            reply = replies.refused(self._failure(request, error))
        if request.method == "HEAD":
            reply = msgspec.structs.replace(reply, body=b"")
        return replies.warned(reply, warnings)

    def _wished(
        self, request: Request, info: RequestInfo, served: ServedResource, warnings: list[str]
    ) -> ResponseFormat:
        try:
            return response_format(
                request,
                custom=served.custom,
                watches=info.verb == "watch",
                lists=info.verb in ("list", "watch"),
                table=partial(table_of, info, served, clock=self.store.clock),
            )
        except StatusError as refusal:
            # Without details, it comes from the resource itself, which warns before it refuses.
            if served.deprecation and not served.custom and refusal.details is None:
                warnings.append(served.deprecation)
            raise

    async def _watched(
        self, lines: AsyncGenerator[bytes, None], request: Request, encoder: ResponseEncoder
    ) -> AsyncGenerator[bytes, None]:
        """The lines of a watch; one that breaks says so in its last."""
        async with aclosing(lines):
            try:
                async for each in lines:
                    yield each
            except StatusError as refusal:
                yield encoder.failure(refusal.status())
            except Exception as error:  # noqa: BLE001 - as above
                yield encoder.failure(self._failure(request, error).status())

    def _failure(self, request: Request, error: Exception) -> StatusError:
        self._observe(ResponseFailed(method=request.method, path=request.path, error=error))
        return status_errors.internal_error("the server failed to answer; see its log")

    def _nowhere(self, info: RequestInfo) -> Reply:
        """Nothing is served there; only groups of the server's own answer with a Status."""
        if self.registry.is_remote(info.group, info.version):
            return replies.unavailable()
        if self.registry.is_builtin(info.group):
            raise status_errors.no_such_path()
        return replies.nothing_there()

    def _about_itself(self, request: Request, info: RequestInfo) -> Reply:
        """The answer at a path that is no resource's."""
        if info.path == METRICS and request.method in ("GET", "HEAD"):
            if self._metrics_page is None:
                from steersman_cluster.apiserver.server.metrics_page import MetricsPage

                self._metrics_page = MetricsPage(
                    self.metrics, self.store, self.registry, start_time=self._start_time
                )
            return self._metrics_page.reply()
        return self._nonresource_paths.answer(request, info)

    def _serving(self, resource: GroupResource) -> ServedResource:
        return self.registry.versions(resource)[0]

    def _user(
        self, request: Request, certificate: ClientCertificate | None, wanted: Attributes
    ) -> User:
        user = self._authenticator.user(request, certificate)
        return self._impersonation.speaker(request, user, wanted)

    def _answer(self, request: APIRequest) -> Answer | AsyncGenerator[bytes, None]:
        http, info, registered = request.http, request.info, request.registered
        # A run that lacked the answer of a webhook may have left something.
        request.warnings.clear()
        request.whole_floats = ()
        if http.body is not None and len(http.body) > LARGEST_BODY:
            raise status_errors.too_large(f"limit is {LARGEST_BODY}")
        if registered.custom and registered.deprecation:
            request.warnings.append(registered.deprecation)
        check_place(info, registered)
        request = self._scope.resolve(request)
        served = request.served
        if not served.custom and served.deprecation and _is_offered(info, registered):
            if info.verb == "patch":
                patch_type(http, custom=False)  # an unknown patch type gets no warning
            request.warnings.append(served.deprecation)
        if not served.custom and self._reviews.answers(info.resource):
            return self._review(request)
        try:
            return dispatch(request, self._scope)
        finally:  # what was written is so even if it cannot be shown as was wanted
            if info.verb not in _READS:
                self._settle(served)

    def _settle(self, served: ServedResource) -> None:
        """Have follow from a write what follows from it."""
        resource = served.group_resource
        if served.custom or resource == DEFINITIONS:
            before = self.registry.revision
            self._definitions.settle()
            if self.registry.revision == before:
                return
        elif resource not in TRIGGERS:
            return
        self._managed_objects.settle()

    def _review(self, request: APIRequest) -> Answer:
        info = request.info
        if info.name:
            raise status_errors.no_such_path()
        if info.verb != "create":
            raise not_allowed()
        options = WriteOptions.of(info, kind="CreateOptions")
        review = read_body(request, self._scope, options, request.content_type)
        object_meta.set_namespace(review["metadata"], info.namespace)
        object_meta.wipe(review["metadata"])
        self._scope.field_manager(request).update(
            None,
            review,
            manager=options.field_manager or request.agent,
            time=format_time(self.store.clock.now()),
        )
        review = self._scope.admission.mutated(request, review, None)
        self._scope.admission.check(request, review, None)
        answer = self._reviews.answer(request.served.plural, review, user=request.user)
        return Answer(201, request.encoder.other(answer))


def _is_offered(info: RequestInfo, served: ServedResource) -> bool:
    """Whether there is a way to ask for it; that to a list is the one to a watch."""
    return info.verb in served.verbs or info.verb == "watch"


def administrator() -> User:
    """A user who may do everything."""
    return User(name="admin", uid="admin", groups=(ADMINISTRATORS,))
