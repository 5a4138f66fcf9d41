"""The users, tokens and certificates of a control plane, created again at every start."""

import json
import secrets
from base64 import b64encode
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from steersman.wire import CertificateAuthority, new_key, pem_of

ADMIN = "admin"
CERTIFICATE = "certificate"
LIMITED = "limited"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlaneCredentials:
    """The key files, certificate files and tokens of one control plane.

    ``admin_token`` and the client certificate give all permissions; ``limited_token`` gives only
    the permissions that every authenticated user has. For each of the three users, the kubeconfig
    contains a context: ``admin``, ``certificate`` and ``limited``.
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
        """Return a kubeconfig for ``server``, a URL, with a context for each user.

        The current context is the admin's.
        """
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


def make_credentials(directory: Path, *, now: datetime) -> ControlPlaneCredentials:
    """Create all keys, certificates and tokens of a control plane, in ``directory``."""
    # Two authorities, so that a server's certificate is never accepted as a user's.
    server_ca = CertificateAuthority("steersman control plane", now=now)
    client_ca = CertificateAuthority("steersman control plane users", now=now)
    serving_certificate, serving_key = server_ca.for_server(
        "kube-apiserver", reachable_as=("localhost", "127.0.0.1")
    )
    client_certificate, client_key = client_ca.for_client(CERTIFICATE, groups=("system:masters",))
    admin_token, limited_token = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    tokens = (
        f'{admin_token},{ADMIN},{ADMIN},"system:masters"\n{limited_token},{LIMITED},{LIMITED}\n'
    )

    def file(name: str, content: bytes) -> Path:
        return write_private(directory / name, content)

    return ControlPlaneCredentials(
        ca_file=file("ca.crt", server_ca.pem),
        serving_certificate_file=file("serving.crt", serving_certificate),
        serving_key_file=file("serving.key", serving_key),
        client_ca_file=file("client-ca.crt", client_ca.pem),
        client_certificate_file=file("client.crt", client_certificate),
        client_key_file=file("client.key", client_key),
        service_account_key_file=file("service-account.key", pem_of(new_key())),
        tokens_file=file("tokens.csv", tokens.encode()),
        admin_token=admin_token,
        limited_token=limited_token,
    )


def write_private(path: Path, content: bytes) -> Path:
    """Write ``content`` to the new file ``path``, which only the current user can read."""
    path.touch(mode=0o600, exist_ok=False)
    path.write_bytes(content)
    return path


def _base64(file: Path) -> str:
    return b64encode(file.read_bytes()).decode()
