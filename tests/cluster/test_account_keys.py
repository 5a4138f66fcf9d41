"""The keys and issuers of service account tokens of a cluster."""

import json
from base64 import urlsafe_b64decode
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from steersman.clock import SystemClock
from steersman.observe import Observation
from steersman.wire import Request, new_key, pem_of
from steersman_cluster.apiserver import ClusterSettings, RunningCluster, running_cluster
from steersman_cluster.errors import ClusterError

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"


def ignore(_: Observation) -> None: ...


async def asked(cluster: RunningCluster, method: str, path: str, body: object = None) -> Any:
    reply = await cluster.server.handle(
        Request(
            method=method,
            path=path,
            headers=(("authorization", f"Bearer {cluster.token}"),),
            body=None if body is None else msgspec.json.encode(body),
        )
    )
    assert reply.body is not None
    return msgspec.json.decode(reply.body)


async def token_by(settings: ClusterSettings, *, reviewed_by: ClusterSettings) -> tuple[Any, Any]:
    """The claims of a token, and its review by another cluster with the same account."""
    token, review = "", {}
    for each in (settings, reviewed_by):
        async with running_cluster(
            each, clock=SystemClock(), rng=Random(0), observe=ignore, environ={}
        ) as cluster:
            await asked(cluster, "POST", ACCOUNTS, {"metadata": {"name": "robot"}})
            if not token:
                made = await asked(cluster, "POST", f"{ACCOUNTS}/robot/token", {})
                token = str(made["status"]["token"])
            review = await asked(cluster, "POST", REVIEWS, {"spec": {"token": token}})
    head, claims, _ = token.split(".")
    said = [json.loads(urlsafe_b64decode(part + "==")) for part in (head, claims)]
    return said, review["status"]


def rsa_key(path: Path) -> Path:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.PKCS8
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    )
    return path


async def test_a_token_is_signed_with_the_key_file_and_has_the_first_issuer(
    tmp_path: Path,
) -> None:
    key = rsa_key(tmp_path / "key")
    settings = ClusterSettings(
        service_account_signing_key_file=key,
        service_account_issuers=("https://one.example", "https://two.example"),
    )

    (head, claims), review = await token_by(settings, reviewed_by=settings)

    assert head["alg"] == "RS256"
    assert claims["iss"] == "https://one.example"
    assert claims["aud"] == ["https://one.example", "https://two.example"]
    # Both have the same random seed and account; only the key can differ.
    assert review["authenticated"]


async def test_a_token_of_an_earlier_issuer_is_accepted(tmp_path: Path) -> None:
    key = rsa_key(tmp_path / "key")
    old = ClusterSettings(
        service_account_signing_key_file=key, service_account_issuers=("https://old",)
    )
    new = ClusterSettings(
        service_account_signing_key_file=key,
        service_account_issuers=("https://new", "https://old"),
        api_audiences=("https://old",),
    )

    _, review = await token_by(old, reviewed_by=new)

    assert review["authenticated"]


async def test_a_token_signed_with_an_unknown_key_is_rejected(tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_bytes(pem_of(new_key()))
    stranger = ClusterSettings(service_account_signing_key_file=rsa_key(tmp_path / "key"))

    _, review = await token_by(
        stranger, reviewed_by=ClusterSettings(service_account_key_files=(known,))
    )

    assert "no keys found" in review["error"]


@pytest.mark.parametrize("name", ["missing", "empty"])
async def test_a_file_without_a_key_is_reported(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").touch()

    for settings in (
        ClusterSettings(service_account_signing_key_file=tmp_path / name),
        ClusterSettings(service_account_key_files=(tmp_path / name,)),
    ):
        with pytest.raises(ClusterError, match=rf"{name} (cannot be read|contains no key)"):
            async with running_cluster(
                settings, clock=SystemClock(), rng=Random(0), observe=ignore, environ={}
            ):
                pass


async def test_a_certificate_directory_is_filled_once(tmp_path: Path) -> None:
    settings = ClusterSettings(cert_dir=tmp_path / "certificates")
    found: list[bytes] = []
    for _ in range(2):
        async with running_cluster(
            settings, clock=SystemClock(), rng=Random(0), observe=ignore, environ={}
        ):
            found.append((tmp_path / "certificates" / "apiserver.crt").read_bytes())

    assert found[0] == found[1]
    assert (tmp_path / "certificates" / "apiserver.key").stat().st_mode & 0o077 == 0
