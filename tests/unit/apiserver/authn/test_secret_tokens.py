"""Service account tokens in Secrets: valid while the Secret contains them."""

from base64 import b64encode
from typing import Any

import pytest

from steersman.names import GroupResource
from steersman_cluster.apiserver.authn import (
    Bearer,
    ServiceAccountTokens,
    TokenIssuers,
    TokenRejected,
)
from steersman_cluster.apiserver.authn.secret_tokens import INVALID_SINCE, ISSUER
from steersman_cluster.apiserver.authn.signing_keys import SigningKey
from tests.unit.apiserver.authn.stored_objects import StoredObjects

SECRETS = GroupResource("", "secrets")
ACCOUNTS = GroupResource("", "serviceaccounts")
PREFIX = "kubernetes.io/serviceaccount"
CLAIMS = {
    "iss": ISSUER,
    "sub": "system:serviceaccount:default:robot",
    f"{PREFIX}/namespace": "default",
    f"{PREFIX}/secret.name": "token",
    f"{PREFIX}/service-account.name": "robot",
    f"{PREFIX}/service-account.uid": "u-1",
}
KEY = SigningKey()


class TokenIssuer:
    """Issues the token controller's tokens to a server that trusts its key."""

    def __init__(self) -> None:
        self.stored = StoredObjects()
        self.stored.account("default", "robot")
        issuing = TokenIssuers(signing=KEY, verifying=(KEY,), audiences=("api",))
        self.tokens = ServiceAccountTokens(self.stored.store, issuing)
        self.token = self.issue(CLAIMS)
        self.keep(self.token)

    def issue(self, claims: dict[str, Any]) -> str:
        return self.tokens.issue(claims)

    def keep(self, token: str, **about: Any) -> None:
        data = {"token": b64encode(token.encode()).decode()}
        metadata = {"name": "token", "namespace": "default", **about}
        self.stored.keep(SECRETS, {"metadata": metadata, "data": data})

    def authenticate(self, token: str, *audiences: str) -> Bearer | TokenRejected | None:
        return self.tokens.bearer(token, audiences=audiences or ("api",))


@pytest.fixture
def issuer() -> TokenIssuer:
    return TokenIssuer()


def reason_of(outcome: Bearer | TokenRejected | None) -> str:
    assert isinstance(outcome, TokenRejected)
    return outcome.why


def test_a_secret_token_authenticates_its_service_account(issuer: TokenIssuer) -> None:
    outcome = issuer.authenticate(issuer.token)

    assert isinstance(outcome, Bearer)
    assert outcome.user.name == "system:serviceaccount:default:robot"
    assert (outcome.user.uid, outcome.user.extra) == ("u-1", {})
    assert outcome.audiences == ("api",)


def test_a_secret_token_has_only_the_audience_of_the_server(issuer: TokenIssuer) -> None:
    assert "is invalid for the target audiences" in reason_of(
        issuer.authenticate(issuer.token, "others")
    )


def test_a_secret_token_is_invalid_after_its_secret_changes(issuer: TokenIssuer) -> None:
    issuer.keep("another")
    assert reason_of(issuer.authenticate(issuer.token)) == "Token does not match server's copy"

    issuer.stored.drop(SECRETS, "token", namespace="default")
    assert reason_of(issuer.authenticate(issuer.token)) == "Token has been invalidated"


def test_a_secret_token_is_invalid_after_its_account_is_deleted(issuer: TokenIssuer) -> None:
    issuer.stored.account("default", "robot", uid="u-2")
    assert (
        reason_of(issuer.authenticate(issuer.token))
        == "ServiceAccount UID (u-2) does not match claim (u-1)"
    )

    issuer.stored.drop(ACCOUNTS, "robot", namespace="default")
    assert reason_of(issuer.authenticate(issuer.token)) == 'serviceaccounts "robot" not found'


def test_a_secret_token_that_was_marked_invalid_is_rejected(issuer: TokenIssuer) -> None:
    issuer.keep(issuer.token, labels={INVALID_SINCE: "2026-01-01"})

    assert "has been marked invalid" in reason_of(issuer.authenticate(issuer.token))


@pytest.mark.parametrize(
    ("claim", "value", "reason"),
    [
        ("sub", "", "sub claim is missing"),
        ("sub", "system:serviceaccount:default:other", "sub claim is invalid"),
        (f"{PREFIX}/namespace", "", "namespace claim is missing"),
        (f"{PREFIX}/secret.name", "", "secretName claim is missing"),
        (f"{PREFIX}/service-account.uid", "", "serviceAccountUID claim is missing"),
    ],
)
def test_a_secret_token_with_invalid_claims_is_rejected(
    issuer: TokenIssuer, claim: str, value: str, reason: str
) -> None:
    assert reason_of(issuer.authenticate(issuer.issue({**CLAIMS, claim: value}))) == reason


def test_a_secret_token_signed_by_another_key_is_rejected(issuer: TokenIssuer) -> None:
    stranger = ServiceAccountTokens(issuer.stored.store)

    assert (
        reason_of(issuer.authenticate(stranger.issue(CLAIMS))) == "invalid signature, no keys found"
    )
