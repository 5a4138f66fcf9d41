"""OpenID discovery of the token signing keys."""

import msgspec
import pytest

from steersman_cluster.apiserver.discovery import OPEN_ID_PATHS, open_id_document
from steersman_cluster.apiserver.discovery.open_id import CONFIGURATION, KEYS, OpenIdDocument
from steersman_cluster.apiserver.meta.status_errors import StatusError

KEY = {"use": "sig", "kty": "EC", "kid": "1", "alg": "ES256"}


def document(path: str, *, accept: str = "") -> OpenIdDocument:
    return open_id_document(
        path,
        accept=accept,
        issuer="https://issuer",
        keys=[KEY, {**KEY, "alg": "RS256"}, KEY],
        server_address="10.0.0.1:443",
    )


def test_the_configuration_contains_the_url_of_the_keys() -> None:
    found = msgspec.json.decode(document(CONFIGURATION).body)

    assert found["issuer"] == "https://issuer"
    assert found["jwks_uri"] == f"https://10.0.0.1:443{KEYS}"
    assert found["id_token_signing_alg_values_supported"] == ["ES256", "RS256"]


def test_the_keys_are_served_as_a_json_web_key_set() -> None:
    keys = document(KEYS)

    assert msgspec.json.decode(keys.body)["keys"][0] == KEY
    assert keys.headers["Content-Type"] == "application/jwk-set+json"
    assert keys.headers["Cache-Control"] == "public, max-age=3600"


@pytest.mark.parametrize("path", OPEN_ID_PATHS)
def test_each_document_is_served_only_as_json(path: str) -> None:
    with pytest.raises(StatusError, match="NotAcceptable"):
        document(path, accept="application/yaml")
    assert document(path, accept="text/html, */*").body
