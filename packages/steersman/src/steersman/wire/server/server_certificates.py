"""TLS for a server whose certificate can change while the server runs.

The certificate is selected at each handshake. Open connections keep the previous certificate.
"""

import ssl
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from steersman.clock import Clock
from steersman.errors import ConfigError
from steersman.observe import CredentialsNotRenewed, CredentialsRenewed, Observer
from steersman.wire.tls import as_file, ssl_reason_text

# Half the lifetime (one week) of a self-signed certificate.
RENEW_AFTER = timedelta(days=3)

# Detects a changed file: Kubernetes swaps the links to mounted Secrets, other tools write in place.
_Stamp: TypeAlias = tuple[tuple[int, int, int], ...]


def server_tls(current: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    """Return a TLS context for a listener.

    Each handshake uses the context that ``current`` returns at that time.
    """

    def choose(connection: ssl.SSLObject, _name: str | None, _: ssl.SSLContext) -> None:
        connection.context = current()

    # The callback needs a separate context, because ``current`` may return the first one again.
    outer = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    outer.minimum_version = ssl.TLSVersion.TLSv1_2
    outer.set_alpn_protocols(["http/1.1"])
    outer.sni_callback = choose
    current()  # fails early
    return outer


class CertificateFiles:
    """A certificate and its key in two files, which are read again whenever they have changed.

    If the files cannot be used, for example while they are being written, the previous certificate
    stays in use. The failure is observed, and the files are read again later.
    """

    def __init__(self, certificate: Path, key: Path, *, observe: Observer) -> None:
        self._certificate = certificate
        self._key = key
        self._observe = observe
        self._stamp = self._seen()
        self._context = self._load()
        self._refused: _Stamp | None = None

    def __call__(self) -> ssl.SSLContext:
        """Return the TLS context for the next connection."""
        stamp = self._seen()
        if stamp == self._stamp or not stamp:
            return self._context
        try:
            self._context = self._load()
        except ConfigError as error:
            if stamp != self._refused:
                self._refused = stamp
                self._observe(CredentialsNotRenewed(source=str(self._certificate), error=error))
        else:
            self._stamp, self._refused = stamp, None
            self._observe(
                CredentialsRenewed(source=str(self._certificate), reason="the files have changed")
            )
        return self._context

    def _seen(self) -> _Stamp:
        try:
            found = (self._certificate.stat(), self._key.stat())
        except OSError:
            return ()  # missing for a moment while it is replaced
        return tuple((each.st_ino, each.st_mtime_ns, each.st_size) for each in found)

    def _load(self) -> ssl.SSLContext:
        return certified(
            _content(self._certificate), _content(self._key), source=str(self._certificate)
        )


class SelfSigned:
    """A self-signed certificate, which is renewed before it expires.

    Clients can encrypt connections with the certificate, but cannot verify who the server is.
    Requires ``cryptography``.
    """

    def __init__(self, name: str, *, reachable_as: Iterable[str], clock: Clock) -> None:
        self._name = name
        self._reachable_as = tuple(reachable_as)
        self._clock = clock
        self._made_time, self._context = self._made()

    def __call__(self) -> ssl.SSLContext:
        """Return the TLS context for the next connection."""
        if self._clock.now() - self._made_time >= RENEW_AFTER:
            self._made_time, self._context = self._made()
        return self._context

    def _made(self) -> tuple[datetime, ssl.SSLContext]:
        # Imported here, because cryptography is optional.
        from steersman.wire.certificates import CertificateAuthority

        now = self._clock.now()
        authority = CertificateAuthority(f"{self._name} authority", now=now)
        pair = authority.for_server(self._name, reachable_as=self._reachable_as)
        return now, certified(*pair, source="a certificate of our own")


def certified(certificate: bytes, key: bytes, *, source: str) -> ssl.SSLContext:
    """Return a TLS context that presents ``certificate``; both arguments are PEM.

    Errors name ``source``, from which the certificate and key were read.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # HTTP/2 is not supported.
    context.set_alpn_protocols(["http/1.1"])
    try:
        # Each file is read once, so that the validated content is the content in use.
        with as_file(certificate) as certificate_file, as_file(key) as key_file:
            # An encrypted key is refused; there may be no terminal to ask for its password.
            context.load_cert_chain(certificate_file, key_file, password=lambda: "")
    except ssl.SSLError as error:
        raise ConfigError(
            source=source,
            problem=f"the certificate and its key cannot be used: {ssl_reason_text(error)}",
            what_now="Use PEM without a password for both, and check that they belong together.",
        ) from error
    return context


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(
            source=str(path),
            problem=f"cannot be read: {error.strerror}",
            what_now="Make the file readable for this process.",
        ) from error
