"""Authentication by token and client certificate."""

import hmac
from typing import Any

import pytest

from steersman.wire import CertificateIdentity, Request
from steersman_cluster.apiserver.authn import (
    Authenticator,
    Bearer,
    ServiceAccountTokens,
    TokenRejected,
)
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.users import ANONYMOUS, User
from tests.unit.apiserver.authn.stored_objects import StoredObjects

TOKEN = "canary-of-jane"


def authenticator(**tokens: str) -> Authenticator:
    users = {token: User(name=name, groups=("devs",)) for name, token in tokens.items()}
    return Authenticator(users, ServiceAccountTokens(StoredObjects().store))


def request_with(header: str | None) -> Request:
    headers = () if header is None else (("Authorization", header),)
    return Request(method="GET", path="/", headers=headers)


def test_a_token_authenticates_its_user() -> None:
    user = authenticator(jane=TOKEN).user(request_with(f"Bearer {TOKEN}"), None)

    assert (user.name, user.groups) == ("jane", ("devs", "system:authenticated"))


def test_an_unknown_token_is_unauthorized() -> None:
    with pytest.raises(StatusError) as raised:
        authenticator(jane=TOKEN).user(request_with("Bearer other"), None)

    assert (raised.value.code, raised.value.message) == (401, "Unauthorized")


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", f"Basic {TOKEN}", TOKEN, f"Bearer  {TOKEN}"]
)
def test_a_request_without_a_token_is_anonymous(header: str | None) -> None:
    assert authenticator(jane=TOKEN).user(request_with(header), None) == ANONYMOUS


@pytest.mark.parametrize("header", [f"bearer {TOKEN}", f"BEARER {TOKEN} more", f" Bearer {TOKEN}"])
def test_the_authorization_scheme_is_case_insensitive(header: str) -> None:
    assert authenticator(jane=TOKEN).user(request_with(header), None).name == "jane"


@pytest.mark.parametrize("header", [None, f"Bearer {TOKEN}", "Bearer other"])
def test_a_certificate_takes_precedence_over_a_token(header: str | None) -> None:
    certificate = CertificateIdentity(common_name="kim", organizations=("ops",))

    user = authenticator(jane=TOKEN).user(request_with(header), certificate)

    assert (user.name, user.groups) == ("kim", ("ops", "system:authenticated"))


def test_the_credential_id_of_a_certificate_is_its_fingerprint() -> None:
    certificate = CertificateIdentity(common_name="kim", fingerprint="0123")

    user = authenticator(jane=TOKEN).user(request_with(None), certificate)

    assert user.extra == {"authentication.kubernetes.io/credential-id": ("X509SHA256=0123",)}


def test_a_certificate_without_a_common_name_is_ignored() -> None:
    nameless = CertificateIdentity(common_name="", organizations=("system:masters",))
    known = authenticator(jane=TOKEN)

    assert known.user(request_with(None), nameless) == ANONYMOUS
    assert known.user(request_with(f"Bearer {TOKEN}"), nameless).name == "jane"


def test_a_static_token_has_only_the_audience_of_the_server() -> None:
    known = authenticator(jane=TOKEN)

    for_us = known.bearer(TOKEN, audiences=("them", "https://kubernetes.default.svc"))
    for_them = known.bearer(TOKEN, audiences=("them",))

    assert isinstance(for_us, Bearer)
    assert for_us.audiences == ("https://kubernetes.default.svc",)
    assert for_them == TokenRejected("invalid bearer token")


def test_a_token_is_compared_in_constant_time_and_never_stored_in_plain_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[tuple[bytes, bytes]] = []
    really = hmac.compare_digest

    def compare(one: Any, other: Any) -> bool:
        compared.append((one, other))
        return really(one, other)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    known = authenticator(ann="first", jane=TOKEN, kim="third")

    known.user(request_with("Bearer first"), None)

    assert len(compared) == 3  # the first one matches, and the others are compared all the same
    assert TOKEN.encode() not in [each for pair in compared for each in pair]
    assert TOKEN not in repr(vars(known)) + repr(known)
