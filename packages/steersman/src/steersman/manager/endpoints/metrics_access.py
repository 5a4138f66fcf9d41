"""Access to the metrics: anonymous on a loopback address, otherwise with a token.

On any address that is not a loopback address, clients use HTTPS and a bearer token that the API
server accepts (TokenReview). The user of the token needs the permission to get /metrics
(SubjectAccessReview). If the API server does not respond, access is denied.
"""

import ssl
from typing import TYPE_CHECKING, Final

import msgspec

from steersman.client import Client
from steersman.clock import Clock
from steersman.errors import BadSettings, ConfigError
from steersman.manager.endpoints.probes import Routes, header, metrics_pages, text_reply
from steersman.manager.endpoints.token_reviews import AccessDecision, TokenReviews
from steersman.manager.settings.address import ListenAddress
from steersman.manager.settings.manager_settings import ManagerSettings
from steersman.observe import Observer
from steersman.wire import (
    CertificateFiles,
    CertificateIdentity,
    Reply,
    Request,
    RequestHandler,
    SelfSigned,
    server_tls,
)

if TYPE_CHECKING:
    from steersman.observe import CollectorRegistry

# Prometheus' default timeout.
SCRAPE_SECONDS: Final = 10.0

_NAME: Final = "steersman metrics"


class MetricsEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The handler of requests for the metrics, and the TLS context of its listener, if any."""

    handler: RequestHandler
    tls: ssl.SSLContext | None


def metrics_endpoint(
    registry: "CollectorRegistry",
    settings: ManagerSettings,
    *,
    client: Client,
    clock: Clock,
    observe: Observer,
) -> MetricsEndpoint:
    """Return the metrics endpoint for the address in ``settings``.

    ``client`` sends reviews of tokens and permissions, also in a replica that does not lead.
    """
    pages = Routes(metrics_pages(registry), observe=observe)
    address = settings.metrics
    if address is None or address.is_loopback:
        return MetricsEndpoint(handler=pages, tls=_given_tls(settings, observe=observe))
    return MetricsEndpoint(
        handler=AuthorizedPages(pages, TokenReviews(client, clock=clock), clock=clock),
        tls=_given_tls(settings, observe=observe) or _own_tls(address, clock=clock),
    )


class AuthorizedPages:
    """The pages of ``inner``, served only to clients whose token permits the page's path."""

    def __init__(self, inner: Routes, reviews: TokenReviews, *, clock: Clock) -> None:
        self._inner = inner
        self._reviews = reviews
        self._clock = clock

    async def handle(self, request: Request, *, certificate: CertificateIdentity | None) -> Reply:
        """Return the page or an error reply, in either case before the scraper times out."""
        if request.path not in self._inner.paths:
            # Paths without a page need no review: a client could request any number of such paths.
            return await self._inner.handle(request, certificate=certificate)
        token = _bearer_token(request)
        if token is None:
            return _unauthorized()
        try:
            async with self._clock.timeout(SCRAPE_SECONDS):
                verdict = await self._reviews.verdict(token, request.path)
        except TimeoutError:
            verdict = AccessDecision.NO_RESPONSE
        match verdict:
            case AccessDecision.ALLOWED:
                return await self._inner.handle(request, certificate=certificate)
            case AccessDecision.UNKNOWN_CALLER:
                return _unauthorized()
            case AccessDecision.FORBIDDEN:
                return text_reply(403, "forbidden")
            case AccessDecision.NO_RESPONSE:
                return text_reply(500, "the token review failed")


def _unauthorized() -> Reply:
    return text_reply(401, "unauthorized", ("WWW-Authenticate", "Bearer"))


def _bearer_token(request: Request) -> str | None:
    """Return the bearer token of the request; ``None`` without a token or with more than one."""
    scheme, _, token = header(request, "authorization").partition(" ")
    token = token.strip()
    is_token = token.isascii() and token.isprintable() and not set(token) & set(" ,")
    return token if scheme.lower() == "bearer" and token and is_token else None


def _given_tls(settings: ManagerSettings, *, observe: Observer) -> ssl.SSLContext | None:
    if settings.tls_cert_file is None or settings.tls_key_file is None:
        return None
    try:
        files = CertificateFiles(settings.tls_cert_file, settings.tls_key_file, observe=observe)
    except ConfigError as error:
        raise BadSettings(
            source="--tls-cert-file and --tls-key-file",
            problem=f"{error.source}: {error.problem}",
            what_now="Give a certificate and its key in PEM, without a password, in files that this"
            " process may read.",
        ) from error
    return server_tls(files)


def _own_tls(address: ListenAddress, *, clock: Clock) -> ssl.SSLContext:
    names = ("localhost", "127.0.0.1", *((address.host,) if address.host else ()))
    try:
        return server_tls(SelfSigned(_NAME, reachable_as=dict.fromkeys(names), clock=clock))
    except ModuleNotFoundError as error:
        raise BadSettings(
            source=f"--metrics-address {address}",
            problem="metrics that others can reach need a certificate, and without the package"
            " cryptography none can be made",
            what_now="Give --tls-cert-file and --tls-key-file, install steersman[tls], or"
            f" listen on this machine only: 127.0.0.1:{address.port}.",
        ) from error
