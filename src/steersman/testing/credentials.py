"""Who may talk to a control plane, and how each knows the other: made anew at every start."""

import ipaddress
import json
import secrets
from base64 import b64encode
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Longer than any test session, and short enough that a forgotten file is worth nothing.
VALID_DAYS = 7

ADMIN = "admin"
CERTIFICATE = "certificate"
LIMITED = "limited"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Files and tokens of one control plane.

    ``admin_token`` and the client certificate may do everything, ``limited_token`` only what
    everybody may who is known at all. Each is a context of the kubeconfig as well: ``admin``,
    ``certificate`` and ``limited``.
    """

    ca_file: Path
    serving_certificate_file: Path
    serving_key_file: Path
    client_ca_file: Path
    client_certificate_file: Path
    client_key_file: Path
    service_account_key_file: Path
    tokens_file: Path
    admin_token: str = field(repr=False)
    limited_token: str = field(repr=False)

    def kubeconfig(self, *, server: str) -> str:
        """A kubeconfig for ``server`` with a context for each user; the current one is admin's."""
        users = {
            ADMIN: {"token": self.admin_token},
            CERTIFICATE: {
                "client-certificate-data": _base64(self.client_certificate_file),
                "client-key-data": _base64(self.client_key_file),
            },
            LIMITED: {"token": self.limited_token},
        }
        cluster = {"server": server, "certificate-authority-data": _base64(self.ca_file)}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "control-plane", "cluster": cluster}],
            "users": [{"name": name, "user": user} for name, user in users.items()],
            "contexts": [
                {"name": name, "context": {"cluster": "control-plane", "user": name}}
                for name in users
            ],
            "current-context": ADMIN,
        }
        return json.dumps(document, indent=2) + "\n"


def make_credentials(directory: Path, *, now: datetime) -> Credentials:
    """Make every key, certificate and token, and write them into ``directory``."""
    # Two authorities, so that a server's certificate never passes for a user's.
    server_ca = _Authority("steersman control plane", now=now)
    client_ca = _Authority("steersman control plane users", now=now)
    serving_certificate, serving_key = server_ca.issue(
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")]),
        usage=ExtendedKeyUsageOID.SERVER_AUTH,
        reachable_as=(
            x509.DNSName("localhost"),
            x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
        ),
    )
    client_certificate, client_key = client_ca.issue(
        x509.Name(
            [
                x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:masters"),
                x509.NameAttribute(NameOID.COMMON_NAME, CERTIFICATE),
            ]
        ),
        usage=ExtendedKeyUsageOID.CLIENT_AUTH,
    )
    admin_token, limited_token = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    tokens = (
        f'{admin_token},{ADMIN},{ADMIN},"system:masters"\n{limited_token},{LIMITED},{LIMITED}\n'
    )

    def file(name: str, content: bytes) -> Path:
        return write_private(directory / name, content)

    return Credentials(
        ca_file=file("ca.crt", server_ca.pem),
        serving_certificate_file=file("serving.crt", serving_certificate),
        serving_key_file=file("serving.key", serving_key),
        client_ca_file=file("client-ca.crt", client_ca.pem),
        client_certificate_file=file("client.crt", client_certificate),
        client_key_file=file("client.key", client_key),
        service_account_key_file=file("service-account.key", _pem(_new_key())),
        tokens_file=file("tokens.csv", tokens.encode()),
        admin_token=admin_token,
        limited_token=limited_token,
    )


def write_private(path: Path, content: bytes) -> Path:
    """Write a file that only this user can read, from its first byte on."""
    path.touch(mode=0o600, exist_ok=False)
    path.write_bytes(content)
    return path


class _Authority:
    """A certificate authority that lives as long as this object."""

    def __init__(self, name: str, *, now: datetime) -> None:
        self._now = now
        self._key = _new_key()
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        signing = _key_usage(signs_certificates=True)
        builder = self._builder(self._name, self._key.public_key())
        builder = builder.add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        builder = builder.add_extension(signing, critical=True)
        self.pem = self._sign(builder)

    def issue(
        self,
        subject: x509.Name,
        *,
        usage: x509.ObjectIdentifier,
        reachable_as: tuple[x509.GeneralName, ...] = (),
    ) -> tuple[bytes, bytes]:
        """A certificate and its key, as PEM."""
        key = _new_key()
        builder = self._builder(subject, key.public_key())
        builder = builder.add_extension(
            x509.BasicConstraints(ca=False, path_length=None), critical=True
        )
        builder = builder.add_extension(_key_usage(signs_certificates=False), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if reachable_as:
            names = x509.SubjectAlternativeName(reachable_as)
            builder = builder.add_extension(names, critical=False)
        return self._sign(builder), _pem(key)

    def _builder(
        self, subject: x509.Name, public_key: ec.EllipticCurvePublicKey
    ) -> x509.CertificateBuilder:
        own_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        # From a minute ago: a clock that is stepped back must not make it "not yet valid".
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


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        # The one form in which kube-apiserver takes a key for signing and for checking alike.
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


def _base64(file: Path) -> str:
    return b64encode(file.read_bytes()).decode()
