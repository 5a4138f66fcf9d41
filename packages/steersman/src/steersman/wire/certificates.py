"""A private certificate authority, for servers that run only during a test or a session.

Requires ``cryptography``, which is part of the extras ``dev`` and ``tls``.
"""

import ipaddress
from collections.abc import Iterable
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Longer than any session, and short enough that a forgotten file is soon useless.
VALID_DAYS = 7


class CertificateAuthority:
    """A private certificate authority, whose key exists only in the memory of this object."""

    def __init__(self, name: str, *, now: datetime) -> None:
        self._now = now
        self._key = new_key()
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        signing = _key_usage(signs_certificates=True)
        builder = self._builder(self._name, self._key.public_key())
        builder = builder.add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        builder = builder.add_extension(signing, critical=True)
        self.pem = self._sign(builder)

    def for_server(self, name: str, *, reachable_as: Iterable[str]) -> tuple[bytes, bytes]:
        """Return a certificate and its key for a server, both as PEM.

        The certificate is valid for ``reachable_as``, the addresses and host names of the server.
        """
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names = [_general_name(each) for each in reachable_as]
        return self._issue(subject, usage=ExtendedKeyUsageOID.SERVER_AUTH, reachable_as=names)

    def for_client(self, name: str, *, groups: Iterable[str] = ()) -> tuple[bytes, bytes]:
        """Return a certificate and its key for the user ``name``, both as PEM.

        The certificate names the user and the user's ``groups``.
        """
        subject = x509.Name(
            [
                *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups),
                x509.NameAttribute(NameOID.COMMON_NAME, name),
            ]
        )
        return self._issue(subject, usage=ExtendedKeyUsageOID.CLIENT_AUTH)

    def _issue(
        self,
        subject: x509.Name,
        *,
        usage: x509.ObjectIdentifier,
        reachable_as: Iterable[x509.GeneralName] = (),
    ) -> tuple[bytes, bytes]:
        key = new_key()
        builder = self._builder(subject, key.public_key())
        builder = builder.add_extension(
            x509.BasicConstraints(ca=False, path_length=None), critical=True
        )
        builder = builder.add_extension(_key_usage(signs_certificates=False), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if names := list(reachable_as):
            alternatives = x509.SubjectAlternativeName(names)
            builder = builder.add_extension(alternatives, critical=False)
        return self._sign(builder), pem_of(key)

    def _builder(
        self, subject: x509.Name, public_key: ec.EllipticCurvePublicKey
    ) -> x509.CertificateBuilder:
        own_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        # Backdated by a minute, so that the certificate stays valid if the clock is set back.
        start = self._now - timedelta(minutes=1)
        return (
            x509.CertificateBuilder()
            .issuer_name(self._name)
            .subject_name(subject)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(start + timedelta(days=VALID_DAYS))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
            .add_extension(own_key, critical=False)
        )

    def _sign(self, builder: x509.CertificateBuilder) -> bytes:
        certificate = builder.sign(self._key, hashes.SHA256())
        return certificate.public_bytes(serialization.Encoding.PEM)


def new_key() -> ec.EllipticCurvePrivateKey:
    """Return a new private key."""
    return ec.generate_private_key(ec.SECP256R1())


def pem_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return a key as PEM."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        # The only format in which kube-apiserver accepts a key both for signing and for verifying.
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
