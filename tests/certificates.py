"""Certificates for tests, and the authority that signs them.

Keys use the P-256 curve, which is fast. As in many clusters, certificates have no key identifiers:
Go and steersman do not require them, ``ssl.create_default_context`` does since Python 3.13.
"""

import ipaddress
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Any times before and after every run of the tests.
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
FAR_OFF = datetime(2120, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair:
    """A certificate and its key, both as PEM."""

    certificate: bytes
    key: bytes = field(repr=False)

    def encrypted_key(self, password: bytes) -> bytes:
        """The key, encrypted with ``password``."""
        key = serialization.load_pem_private_key(self.key, password=None)
        return key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(password),
        )


class Authority:
    """A certificate authority; clients trust its ``certificate``."""

    def __init__(
        self, name: str = "test authority", *, signed_by: "Authority | None" = None
    ) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        issuer = signed_by or self
        self._certificate = (
            _builder(self._name, issuer._name, self._key.public_key(), expires_time=FAR_OFF)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(issuer._key, hashes.SHA256())
        )
        self.certificate = self._certificate.public_bytes(serialization.Encoding.PEM)

    def trusting(self) -> ssl.SSLContext:
        """The TLS context of a client that trusts only this authority."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=self.certificate.decode())
        return context

    def server(self, *names: str, expires_time: datetime = FAR_OFF) -> KeyPair:
        """A certificate for a server with these host names and addresses."""
        return self._pair(
            "server",
            x509.SubjectAlternativeName([_general_name(name) for name in names]),
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),
            expires_time=expires_time,
        )

    def client(self, user: str, *groups: str, expires_time: datetime = FAR_OFF) -> KeyPair:
        """A certificate for ``user`` in ``groups``, as Kubernetes reads it."""
        return self._pair(
            user,
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]),
            groups=groups,
            expires_time=expires_time,
        )

    def _pair(
        self,
        name: str,
        *extensions: x509.ExtensionType,
        groups: tuple[str, ...] = (),
        expires_time: datetime,
    ) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(
            _name(name, *groups), self._name, key.public_key(), expires_time=expires_time
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        return KeyPair(
            certificate=builder.sign(self._key, hashes.SHA256()).public_bytes(
                serialization.Encoding.PEM
            ),
            key=key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ),
        )


def _name(common_name: str, *organizations: str) -> x509.Name:
    return x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organizations),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public_key: ec.EllipticCurvePublicKey,
    *,
    expires_time: datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(LONG_AGO)
        .not_valid_after(expires_time)
    )
