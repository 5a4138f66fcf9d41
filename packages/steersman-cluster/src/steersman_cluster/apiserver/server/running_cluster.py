"""An API server on a socket, with a certificate, a token and a kubeconfig for its clients.

The context manager ``running_cluster`` creates these files at its start, and removes them at its
end.
"""

import csv
import ipaddress
import os
import secrets
import socket
import ssl
import tempfile
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TypeVar
from urllib.parse import urlsplit

import yaml

from steersman.clock import Clock
from steersman.observe import Observer
from steersman.wire import (
    CertificateAuthority,
    CertificateIdentity,
    Reply,
    Request,
    RequestHandler,
    listening,
)
from steersman_cluster.apiserver.authn import TokenIssuers
from steersman_cluster.apiserver.authn.signing_keys import signing_key_in, verifying_keys_in
from steersman_cluster.apiserver.meta.users import User
from steersman_cluster.apiserver.server.api_server import MAX_BODY_BYTES, ApiServer, administrator
from steersman_cluster.apiserver.server.measured_server import MeasuredServer, NetworkServer
from steersman_cluster.apiserver.server.options import ServerOptions
from steersman_cluster.apiserver.storage import RevisionLog, SqliteJournal
from steersman_cluster.apiserver.webhooks.network import NetworkWebhookTransport
from steersman_cluster.errors import ClusterError

LOOPBACK = "127.0.0.1"
NAME = "steersman"
SERVICE_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)

T = TypeVar("T")

# Enough for a port of this machine.
CONNECT_SECONDS = 1.0

# The kubelet sets it in every container.
IN_CLUSTER = "KUBERNETES_SERVICE_HOST"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """The settings of a cluster: its address, its data directory and its keys.

    By default, all data and keys are temporary. Without ``tls_cert_file``, the server uses the
    certificate ``apiserver.crt`` and its key from ``cert_dir``, and creates both files if they do
    not exist. The key files and issuers of service account tokens in these settings replace those
    in ``options.token_issuers``.
    """

    host: str = LOOPBACK
    port: int = 0
    kubeconfig: Path | None = None
    data: Path | None = None
    tls_cert_file: Path | None = None
    tls_private_key_file: Path | None = None
    cert_dir: Path | None = None
    client_ca_file: Path | None = None
    token_auth_file: Path | None = None
    service_account_key_files: tuple[Path, ...] = ()
    service_account_signing_key_file: Path | None = None
    service_account_issuers: tuple[str, ...] = ()
    api_audiences: tuple[str, ...] = ()
    advertise_address: str | None = None
    options: ServerOptions = field(default_factory=ServerOptions)
    even_in_a_cluster: bool = False
    share_port: bool = False

    def __post_init__(self) -> None:
        if (self.tls_cert_file is None) != (self.tls_private_key_file is None):
            raise ClusterError(
                problem="only one of the certificate and its private key is given",
                what_now="Give both --tls-cert-file and --tls-private-key-file, or neither.",
            )
        try:
            ipaddress.ip_address(self.host)
        except ValueError as error:
            raise ClusterError(
                problem=f"{self.host} is not an IP address",
                what_now="Set --bind-address to an IP address of this machine, such as 127.0.0.1.",
            ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCluster:
    """A running cluster: its address, its server, and what its clients need.

    ``ca`` is the certificate to trust, ``token`` the token of the administrator.
    """

    url: str
    kubeconfig: Path
    server: ApiServer
    measured: RequestHandler  # the same server, with metrics of requests from within the process
    ca: str
    token: str = field(repr=False)


@asynccontextmanager
async def running_cluster(
    settings: ClusterSettings,
    *,
    clock: Clock,
    rng: Random,
    observe: Observer,
    environ: Mapping[str, str],
) -> AsyncIterator[RunningCluster]:
    """Run a cluster until the ``with`` block ends; only its data directory remains."""
    if IN_CLUSTER in environ and not settings.even_in_a_cluster:
        raise ClusterError(
            problem="this process runs inside a Kubernetes cluster, which an embedded cluster does"
            " not replace",
            what_now="Use --force to start one anyway.",
        )
    token = secrets.token_urlsafe(32)
    tokens = {token: administrator(), **_tokens_in(settings.token_auth_file)}
    with (
        tempfile.TemporaryDirectory(prefix="steersman-") as temporary,
        _journal(settings.data) as journal,
    ):
        directory = Path(temporary)
        ca, context = _tls(settings, directory, clock=clock)
        outbound, handler = NetworkWebhookTransport(clock=clock), _DeferredHandler()
        async with outbound, _listening(handler, settings, context) as port:
            # The server needs the port. No task has handled a connection yet.
            server = ApiServer(
                log=RevisionLog(journal),
                tokens=tokens,
                clock=clock,
                rng=rng,
                observe=observe,
                outbound=outbound,
                options=replace(
                    settings.options,
                    token_issuers=_token_issuers(settings),
                    advertise_address=settings.advertise_address or settings.host,
                    secure_port=port,
                    client_ca=_read(settings.client_ca_file) or "",
                ),
            )
            handler.server = NetworkServer(server, clock=clock, rng=rng)
            url = f"https://{_bracketed(settings.host)}:{port}"
            path = settings.kubeconfig or directory / "kubeconfig"
            with _kubeconfig(path, _document(url, ca, token), url=url):
                yield RunningCluster(
                    url=url,
                    kubeconfig=path,
                    server=server,
                    measured=MeasuredServer(server, clock=clock),
                    ca=ca.decode(),
                    token=token,
                )


class _DeferredHandler:
    """A handler for a server that is created once its port is known."""

    server: RequestHandler

    async def handle(self, request: Request, *, certificate: CertificateIdentity | None) -> Reply:
        """Return the server's reply."""
        return await self.server.handle(request, certificate=certificate)


@asynccontextmanager
async def _listening(
    handler: RequestHandler, settings: ClusterSettings, tls: ssl.SSLContext
) -> AsyncIterator[int]:
    listens = False
    try:
        async with listening(
            handler,
            host=settings.host,
            port=settings.port,
            tls=tls,
            max_body_bytes=MAX_BODY_BYTES,
            share_port=settings.share_port,
        ) as port:
            listens = True
            yield port
    except OSError as error:
        if listens or error.errno is None:
            raise
        # asyncio wraps the error's message in a longer one.
        why = os.strerror(error.errno).lower()
        raise ClusterError(
            problem=f"cannot listen on {settings.host} port {settings.port}: {why}",
            what_now="Choose another --port, 0 for any free port, or another --bind-address.",
        ) from error


@contextmanager
def _journal(directory: Path | None) -> Iterator[SqliteJournal | None]:
    if directory is None:
        yield None
        return
    journal = SqliteJournal(directory)
    try:
        yield journal
    finally:
        journal.close()


def _tls(
    settings: ClusterSettings, directory: Path, *, clock: Clock
) -> tuple[bytes, ssl.SSLContext]:
    """Return the certificate that clients must trust, and the server's TLS context."""
    certificate, key = settings.tls_cert_file, settings.tls_private_key_file
    if certificate is None or key is None:
        certificate, key = _serving_files(settings, directory, clock=clock)
    trusted = _read_required(certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        # An encrypted key is rejected: the server does not prompt for a password.
        context.load_cert_chain(certificate, key, password=lambda: "")
        if settings.client_ca_file is not None:
            context.load_verify_locations(settings.client_ca_file)
            context.verify_mode = ssl.CERT_OPTIONAL
    except (OSError, ssl.SSLError) as error:
        raise ClusterError(
            problem=f"the certificates or keys cannot be used: {error}",
            what_now="Check that the files exist, are PEM, and belong together.",
        ) from error
    return trusted, context


def _serving_files(
    settings: ClusterSettings, directory: Path, *, clock: Clock
) -> tuple[Path, Path]:
    """Return the files of the certificate chain and the key; create them if they do not exist."""
    directory = settings.cert_dir or directory
    files = directory / "apiserver.crt", directory / "apiserver.key"
    if all(each.exists() for each in files):
        return files
    authority = CertificateAuthority(f"{NAME} cluster", now=clock.now())
    names = dict.fromkeys(
        (*SERVICE_NAMES, LOOPBACK, settings.host, settings.advertise_address or settings.host)
    )
    certificate, key = authority.for_server(NAME, reachable_as=names)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path, content in zip(files, (certificate + authority.pem, key), strict=True):
            path.unlink(missing_ok=True)
            _write_private(path, content)
    except OSError as error:
        raise ClusterError(
            problem=f"the server's certificate cannot be written to {directory}: {error.strerror}",
            what_now="Set --cert-dir to a directory that you may write to.",
        ) from error
    return files


def _token_issuers(settings: ClusterSettings) -> TokenIssuers:
    """Return the issuers of service account tokens, with the keys that sign and verify tokens."""
    given = settings.options.token_issuers
    file, files = settings.service_account_signing_key_file, settings.service_account_key_files
    return TokenIssuers(
        issuers=settings.service_account_issuers or given.issuers,
        audiences=settings.api_audiences or given.audiences,
        signing=given.signing if file is None else _keys(signing_key_in, file),
        verifying=tuple(key for each in files for key in _keys(verifying_keys_in, each))
        or given.verifying,
    )


def _keys(read: Callable[[bytes], T], path: Path) -> T:
    try:
        return read(_read_required(path))
    except ValueError as error:
        raise ClusterError(
            problem=f"{path} contains no key for service account tokens: {error}",
            what_now="Use a file with an RSA or ECDSA key in PEM.",
        ) from error


def _document(url: str, ca: bytes, token: str) -> str:
    trusted = b64encode(ca).decode()
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {"name": NAME, "cluster": {"server": url, "certificate-authority-data": trusted}}
            ],
            "users": [{"name": NAME, "user": {"token": token}}],
            "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
            "current-context": NAME,
        },
        sort_keys=False,
    )


@contextmanager
def _kubeconfig(path: Path, document: str, *, url: str) -> Iterator[None]:
    """Write a kubeconfig at ``path``, and delete it when the ``with`` block ends.

    A file of another program is never replaced.
    """
    if path.exists() and not _is_ours(path):
        raise ClusterError(
            problem=f"{path} exists and does not belong to an embedded cluster",
            what_now="Set another --kubeconfig; KUBECONFIG=a:b merges two files.",
        )
    # A file with this server's own address is stale: it is of a killed cluster with the same port.
    if path.exists() and (other := _url_in_use(path)) not in ("", url):
        raise ClusterError(
            problem=f"{path} belongs to an embedded cluster that still runs at {other}",
            what_now="Stop that cluster, or set another --kubeconfig.",
        )
    try:
        path.unlink(missing_ok=True)
        _write_private(path, document.encode())
    except OSError as error:
        raise ClusterError(
            problem=f"{path} cannot be written: {error.strerror}",
            what_now="Set --kubeconfig to a path in an existing directory that you may write to.",
        ) from error
    try:
        yield
    finally:
        if path.exists() and path.read_text(encoding="utf-8") == document:
            path.unlink()


def _is_ours(path: Path) -> bool:
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        return [each["name"] for each in found["clusters"]] == [NAME]
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError, RecursionError):
        return False


def _url_in_use(path: Path) -> str:
    """Return the URL in the kubeconfig at ``path`` if a server listens there, else ""."""
    try:
        (found,) = yaml.safe_load(path.read_text(encoding="utf-8"))["clusters"]
        url = str(found["cluster"]["server"])
        parts = urlsplit(url)
        with socket.create_connection((parts.hostname or "", parts.port or 443), CONNECT_SECONDS):
            return url
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError, RecursionError):
        return ""


def _write_private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600, exist_ok=False)
    path.write_bytes(content)


def _tokens_in(path: Path | None) -> dict[str, User]:
    """Return users by token, from a file with lines ``token,user,uid,"group1,group2"``."""
    if path is None:
        return {}
    found: dict[str, User] = {}
    for number, row in enumerate(csv.reader(_text(path).splitlines()), start=1):
        if not row:
            continue
        if len(row) < 3 or not row[0]:
            raise ClusterError(
                problem=f"line {number} of {path} is not TOKEN,USER,UID or TOKEN,USER,UID,GROUPS",
                what_now="Correct the line, or omit --token-auth-file.",
            )
        groups = tuple(filter(None, row[3].split(","))) if len(row) > 3 else ()
        found[row[0]] = User(name=row[1], uid=row[2], groups=groups)
    return found


def _read(path: Path | None) -> str | None:
    return None if path is None else _text(path)


def _text(path: Path) -> str:
    try:
        return _read_required(path).decode()
    except UnicodeDecodeError as error:
        raise ClusterError(
            problem=f"{path} is not text in UTF-8: {error.reason} at byte {error.start}",
            what_now="Check the path, or save the file in UTF-8.",
        ) from error


def _read_required(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ClusterError(
            problem=f"{path} cannot be read: {error.strerror}",
            what_now="Check that the file exists and that you may read it.",
        ) from error


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
