"""The API server: a request in, an answer out, whoever carries them."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from random import Random

import msgspec

from steersman.apiserver import metadata, refusals
from steersman.apiserver.access import (
    ADMINISTRATORS,
    AccountTokens,
    Attributes,
    Authenticator,
    Authorizer,
    Escalation,
    Impersonation,
    User,
    denied,
)
from steersman.apiserver.access.rbac import GROUP as RBAC
from steersman.apiserver.asking import replies
from steersman.apiserver.asking.asked import Asked, understand
from steersman.apiserver.asking.bodies import read_body
from steersman.apiserver.asking.call import Answer, Call
from steersman.apiserver.asking.negotiating import WHOLE, answer_form
from steersman.apiserver.asking.options import WriteOptions
from steersman.apiserver.asking.selecting import selected_name
from steersman.apiserver.assembling import (
    SCALE,
    Managements,
    builtin_served,
)
from steersman.apiserver.builtin.namespaces import NAMESPACE_FINALIZE, NAMESPACES
from steersman.apiserver.builtin.pod_parts import POD_DEBUGGING, POD_RESIZING
from steersman.apiserver.builtin.service_network import ServiceNetwork
from steersman.apiserver.builtin.table import builtin_rules
from steersman.apiserver.definitions import DEFINITIONS, Definitions
from steersman.apiserver.describing import SelfDescription
from steersman.apiserver.history import History
from steersman.apiserver.refusals import Refusal
from steersman.apiserver.reviews import Reviews
from steersman.apiserver.rules import Object
from steersman.apiserver.schema.decoding import Expectations
from steersman.apiserver.schema.documents import OBJECT_META, BuiltinSchemas
from steersman.apiserver.served import Registry, Served
from steersman.apiserver.starting import fill
from steersman.apiserver.storage import RevisionLog
from steersman.apiserver.store import TOO_DEEP, Store
from steersman.apiserver.verbs.dispatching import check_place, dispatch, not_allowed
from steersman.apiserver.verbs.watching import error_event
from steersman.clock import Clock
from steersman.names import GroupResource, GroupVersionKind
from steersman.observe import AnswerFailed, Observer
from steersman.units import format_time
from steersman.wire import ClientCertificate, Reply, Request

# What a real server takes; etcd's own limit is half of it.
LARGEST_BODY = 3 * 1024 * 1024

DELETE_OPTIONS = GroupVersionKind("", "v1", "DeleteOptions")

_PODS = GroupResource("", "pods")
# Subresources that show the whole object, and let only a part of it be changed.
_WITH_RULES_OF_THEIR_OWN = (
    (NAMESPACES, "finalize", NAMESPACE_FINALIZE),
    (_PODS, "ephemeralcontainers", POD_DEBUGGING),
    (_PODS, "resize", POD_RESIZING),
)
_READS = frozenset(("get", "list", "watch"))
_SERVICES = GroupResource("", "services")


class ApiServer:
    """Kubernetes' API over one revision log.

    It has no thread and no task of its own: time passes for it when it is asked something.
    """

    def __init__(
        self,
        *,
        log: RevisionLog,
        tokens: Mapping[str, User],
        clock: Clock,
        rng: Random,
        observe: Observer,
        address: str = "127.0.0.1",
        port: int = 443,
        client_ca: str = "",
    ) -> None:
        self._observe = observe
        self.store = Store(log, clock=clock, rng=rng)
        self.history = History(log, clock=clock)
        schemas = BuiltinSchemas.read()
        network = ServiceNetwork(rng=rng)
        rules = builtin_rules(network)
        self.registry = Registry(builtin_served(schemas, rules))
        self._subresources = {
            (resource, name): replace(self._serving(resource), rules=own)
            for resource, name, own in _WITH_RULES_OF_THEIR_OWN
        }
        self._expectations = Expectations(schemas)
        self._expected_options = self._expectations.builtin(DELETE_OPTIONS)
        self._managements = Managements(self.registry, schemas)
        self._account_tokens = AccountTokens(self.store)
        self._authenticator = Authenticator(tokens, self._account_tokens)
        self._authorizer = Authorizer(self.store)
        self._impersonation = Impersonation(self._authorizer)
        self._escalation = Escalation(self._authorizer)
        self._reviews = Reviews(self._authenticator, self._authorizer, clock=clock)
        self._definitions = Definitions(
            self.store,
            self.registry,
            rules=rules[DEFINITIONS],
            object_meta=schemas.named(OBJECT_META),
            status=self._managements.of(self._serving(DEFINITIONS), "status"),
        )
        self._scale_schema = schemas.of(SCALE)
        self._description = SelfDescription(
            self.registry, schemas, server_address=f"{address}:{port}"
        )
        network.rebuild(self.store.every(_SERVICES))
        fill(self.store, self.registry, address=address, port=port, client_ca=client_ca)
        self._definitions.settle()

    async def handle(
        self, request: Request, *, certificate: ClientCertificate | None = None
    ) -> Reply:
        """The answer to a request; whatever goes wrong is one too."""
        asked = understand(request)
        warnings: list[str] = []
        form, pretty = WHOLE, replies.wants_layout(request, asked)
        try:
            self.history.keep_short()
            wanted = _attributes(asked)
            user = self._user(request, certificate, wanted)
            self._authorize(user, wanted)
            if asked.resource:
                served = self.registry.find(asked.group, asked.version, asked.resource)
                if served is None:
                    return self._nowhere(asked)
                form = answer_form(request, custom=served.custom)
                only = form.metadata_only
                answer = self._answer(request, asked, served, user, warnings)
                if isinstance(answer, AsyncGenerator):
                    lines = self._watched(only.lines(answer) if only else answer, request)
                    reply = Reply(status=200, headers=replies.STREAM, stream=lines)
                else:
                    body = only.document(answer.body, asked, served) if only else answer.body
                    reply = replies.document(
                        answer.status, body, language=form.language, pretty=pretty
                    )
            else:
                reply = self._description.answer(request, asked)
        except Refusal as refusal:
            reply = replies.refused(refusal, language=form.language, pretty=pretty)
        except RecursionError:
            reply = replies.refused(refusals.bad_request(TOO_DEEP))
        except Exception as error:  # noqa: BLE001 - one request's fault is no other's
            reply = replies.refused(self._failure(request, error))
        if request.method == "HEAD":
            reply = msgspec.structs.replace(reply, body=b"")
        return replies.warned(reply, warnings)

    async def _watched(
        self, lines: AsyncGenerator[bytes, None], request: Request
    ) -> AsyncGenerator[bytes, None]:
        """The lines of a watch; one that breaks says so in its last."""
        async with aclosing(lines):
            try:
                async for each in lines:
                    yield each
            except Exception as error:  # noqa: BLE001 - as above
                yield error_event(self._failure(request, error))

    def _failure(self, request: Request, error: Exception) -> Refusal:
        self._observe(AnswerFailed(method=request.method, path=request.path, error=error))
        return refusals.internal_error("the server failed to answer; see its log")

    def _nowhere(self, asked: Asked) -> Reply:
        """Nothing is served there; of a group of which nothing is, there is not even a Status."""
        if self.registry.is_served(asked.group, asked.version):
            raise refusals.no_such_path()
        return replies.text(404, "404 page not found\n")

    def _serving(self, resource: GroupResource) -> Served:
        return self.registry.versions(resource)[0]

    def _user(
        self, request: Request, certificate: ClientCertificate | None, wanted: Attributes
    ) -> User:
        user = self._authenticator.user(request, certificate)
        return self._impersonation.speaker(request, user, wanted)

    def _authorize(self, user: User, wanted: Attributes) -> None:
        decision = self._authorizer.decide(user, wanted)
        if not decision.allowed:
            raise denied(user, wanted, why=decision.reason)

    def _answer(
        self, request: Request, asked: Asked, served: Served, user: User, warnings: list[str]
    ) -> Answer | AsyncGenerator[bytes, None]:
        if request.body is not None and len(request.body) > LARGEST_BODY:
            raise refusals.too_large(f"limit is {LARGEST_BODY}")
        check_place(asked, served)
        call = self._call(request, asked, served, user, warnings)
        if call.served.deprecation:
            warnings.append(call.served.deprecation)
        if not served.custom and self._reviews.answers(asked.resource):
            return self._review(call, user)
        answer = dispatch(call)
        if asked.verb not in _READS and (
            call.served.custom or call.served.group_resource == DEFINITIONS
        ):
            self._definitions.settle()
        return answer

    def _call(
        self, request: Request, asked: Asked, served: Served, user: User, warnings: list[str]
    ) -> Call:
        scales = asked.subresource == "scale"
        gvk = served.kind_of(asked.subresource)
        if served.custom and not scales:
            expected = self._expectations.custom(gvk)
        else:
            expected = self._expectations.builtin(gvk)
        if asked.subresource:
            served = self._subresources.get((served.group_resource, asked.subresource), served)

        def may(verb: str) -> None:
            self._authorize(user, replace(_attributes(asked), verb=verb))

        def check_grant(obj: Object, old: Object | None) -> None:
            if asked.group == RBAC:
                self._escalation.check(user, _attributes(asked), obj, old)

        def elsewhere(other: Asked) -> Call:
            there = self._serving(other.group_resource)
            return self._call(request, other, there, user, warnings)

        return Call(
            request=request,
            user=user,
            asked=asked,
            served=served,
            store=self.store,
            expected=expected,
            schema=self._scale_schema if scales else served.schema,
            management=self._managements.of(served, asked.subresource),
            may=may,
            elsewhere=elsewhere,
            check_grant=check_grant,
            account_tokens=self._account_tokens,
            expected_options=self._expected_options,
            versions=lambda: self.registry.versions(served.group_resource),
            warnings=warnings,
        )

    def _review(self, call: Call, user: User) -> Answer:
        if call.asked.name:
            raise refusals.no_such_path()
        if call.asked.verb != "create":
            raise not_allowed()
        options = WriteOptions.of(call.asked, kind="CreateOptions")
        review = read_body(call, options, call.content_type)
        metadata.set_namespace(review["metadata"], call.asked.namespace)
        metadata.wipe(review["metadata"])
        call.management.update(
            None,
            review,
            manager=options.field_manager or call.agent,
            time=format_time(self.store.clock.now()),
        )
        answer = self._reviews.answer(call.served.plural, review, user=user)
        return Answer(201, msgspec.json.encode(answer))


def _attributes(asked: Asked) -> Attributes:
    if not asked.resource:
        return Attributes(verb=asked.verb, path=asked.path)
    name = asked.name
    if not name and asked.verb in ("list", "watch"):
        # Who may read one object only may list and watch that one.
        name = selected_name(asked.option("fieldSelector"))
    return Attributes(
        verb=asked.verb,
        group=asked.group,
        resource=asked.resource,
        subresource=asked.subresource,
        namespace=asked.namespace,
        name=name,
    )


def administrator() -> User:
    """A user who may do everything."""
    return User(name="admin", uid="admin", groups=(ADMINISTRATORS,))
