"""TLS for a client of an API server: the trusted authorities and the client's certificate.

If a CA bundle is given, only its authorities are trusted. Otherwise OpenSSL's default roots are
used: the system's roots, or those of ``SSL_CERT_FILE`` and ``SSL_CERT_DIR``.
"""

import os
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn

from steersman.errors import CertificateRefused, ConfigError

# OpenSSL's codes for expired certificates and wrong names (X509_V_ERR_…).
_OUT_OF_DATE: Final = frozenset({9, 10})
_NAMES_ANOTHER: Final = frozenset({62, 64})


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSettings:
    """The trusted authorities, the client's certificate and the client's key, each as PEM."""

    ca_data: bytes | None = field(default=None, repr=False)
    client_certificate: bytes | None = field(default=None, repr=False)
    client_key: bytes | None = field(default=None, repr=False)
    verify: bool = True


class _EncryptedKey(Exception):
    """The client key can only be read with a password."""


def tls_context(settings: TlsSettings, *, source: str) -> ssl.SSLContext:
    """Return a TLS context for connections with ``settings``; errors name ``source``."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Go servers select HTTP/2 if it is offered; a proxy may reject a client that offers nothing.
    context.set_alpn_protocols(["http/1.1"])
    # Every certificate in the bundle is trusted, including intermediates, as in Go clients; some
    # kubeconfigs contain only an intermediate.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if settings.ca_data is not None:
        _trust_only(context, settings.ca_data, source)
    else:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    if not settings.verify:
        if settings.ca_data is not None:
            raise ConfigError(
                source=source,
                problem="a CA is set, but verification of the server's certificate is disabled",
                what_now="Remove one of these settings.",
            )
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if settings.client_certificate is not None or settings.client_key is not None:
        _come_as(context, settings.client_certificate, settings.client_key, source)
    return context


def certificate_refused(error: ssl.SSLError, *, server: str) -> CertificateRefused | None:
    """Return the error for a certificate that the client or ``server`` rejected.

    Return ``None`` if ``error`` does not concern a certificate.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in _NAMES_ANOTHER:
            what_now = "Use an address that the certificate names, or set tls-server-name."
        elif error.verify_code in _OUT_OF_DATE:
            what_now = "Renew the server's certificate, or correct this machine's clock."
        else:
            what_now = "Check that this is the right server, and use the CA of its certificate."
        return CertificateRefused(
            source=server,
            problem=f"the server's certificate was rejected: {error.verify_message.rstrip('.')}",
            what_now=what_now,
        )
    reason = error.reason or ""
    if "ALERT" in reason and ("CERTIFICATE" in reason or "UNKNOWN_CA" in reason):
        return CertificateRefused(
            source=server,
            problem=f"the server rejected the client certificate: {ssl_reason_text(error)}",
            what_now="Use a valid certificate from a CA that the server trusts.",
        )
    return None


def _trust_only(context: ssl.SSLContext, ca_data: bytes, source: str) -> None:
    # OpenSSL accepts ASCII text only, and comments in bundles contain names with accents.
    text = ca_data.decode("ascii", errors="ignore")
    try:
        context.load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            source=source,
            problem="no certificate can be read from the CA bundle",
            what_now="Use PEM, from BEGIN CERTIFICATE to END CERTIFICATE.",
        ) from error


def _come_as(
    context: ssl.SSLContext, certificate: bytes | None, key: bytes | None, source: str
) -> None:
    if certificate is None or key is None:
        missing = "certificate" if certificate is None else "key"
        raise ConfigError(
            source=source,
            problem=f"the client {missing} is missing: a client certificate needs its key",
            what_now="Set both, or neither.",
        )
    try:
        # OpenSSL can read these two only from files.
        with as_file(certificate) as certificate_file, as_file(key) as key_file:
            # Without a password callback, OpenSSL would prompt on the terminal.
            context.load_cert_chain(certificate_file, key_file, password=_refuse_password)
    except _EncryptedKey:
        raise ConfigError(
            source=source,
            problem="the client key is encrypted",
            what_now="Use a key without a password.",
        ) from None
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise CertificateRefused(
                source=source,
                problem="the client key does not belong to the client certificate",
                what_now="Use the key of that certificate.",
            ) from error
        raise ConfigError(
            source=source,
            problem=f"the client certificate or its key cannot be read: {ssl_reason_text(error)}",
            what_now="Use PEM for both.",
        ) from error


def _refuse_password() -> NoReturn:
    raise _EncryptedKey


@contextmanager
def as_file(content: bytes) -> Iterator[str]:
    """Provide a path from which ``content`` can be read while the block runs.

    Only the user of this process can read the file.
    """
    if sys.platform == "linux":
        with _memory_file(content) as path:
            yield path
    else:
        with _private_file(content) as path:
            yield path


if sys.platform == "linux":

    @contextmanager
    def _memory_file(content: bytes) -> Iterator[str]:
        # Memory, not disk: nothing is left even after SIGKILL, and the hardened containers in
        # which operators run have no directory to write to.
        with os.fdopen(os.memfd_create("steersman"), "wb") as file:
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"


@contextmanager
def _private_file(content: bytes) -> Iterator[str]:
    # Imported here, because the import is large and rarely needed.
    import tempfile

    with tempfile.TemporaryDirectory(prefix="steersman-") as directory:
        path = Path(directory, "pem")
        path.touch(mode=0o600)
        path.write_bytes(content)
        yield str(path)


def ssl_reason_text(error: ssl.SSLError) -> str:
    """Return the reason in ``error``, which comes from OpenSSL, as readable text."""
    return (error.reason or "no reason given").replace("_", " ").lower()
