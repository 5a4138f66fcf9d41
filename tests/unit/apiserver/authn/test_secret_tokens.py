"""Tokens that stand in Secrets: good while the Secret holds them, and for no one else."""

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
    """Where the controller's tokens are shown to a server that trusts its key."""

    def __init__(self) -> None:
        self.stored = StoredObjects()
        self.stored.account("default", "robot")
        issuing = TokenIssuers(signing=KEY, verifying=(KEY,), audiences=("api",))
        self.tokens = ServiceAccountTokens(self.stored.store, issuing)
        self.made = self.make(CLAIMS)
        self.keep(self.made)

    def make(self, claims: dict[str, Any]) -> str:
        return self.tokens.issue(claims)

    def keep(self, token: str, **about: Any) -> None:
        data = {"token": b64encode(token.encode()).decode()}
        metadata = {"name": "token", "namespace": "default", **about}
        self.stored.keep(SECRETS, {"metadata": metadata, "data": data})

    def show(self, token: str, *audiences: str) -> Bearer | TokenRejected | None:
        return self.tokens.bearer(token, audiences=audiences or ("api",))


@pytest.fixture
def issuer() -> TokenIssuer:
    return TokenIssuer()


def why(shown: Bearer | TokenRejected | None) -> str:
    assert isinstance(shown, TokenRejected)
    return shown.why


def test_a_token_in_a_secret_is_its_accounts(issuer: TokenIssuer) -> None:
    shown = issuer.show(issuer.made)

    assert isinstance(shown, Bearer)
    assert shown.user.name == "system:serviceaccount:default:robot"
    assert (shown.user.uid, shown.user.extra) == ("u-1", {})
    assert shown.audiences == ("api",)


def test_it_is_for_the_server_itself_only(issuer: TokenIssuer) -> None:
    assert "is invalid for the target audiences" in why(issuer.show(issuer.made, "others"))


def test_it_goes_with_its_secret(issuer: TokenIssuer) -> None:
    issuer.keep("another")
    assert why(issuer.show(issuer.made)) == "Token does not match server's copy"

    issuer.stored.drop(SECRETS, "token", namespace="default")
    assert why(issuer.show(issuer.made)) == "Token has been invalidated"


def test_it_goes_with_its_account(issuer: TokenIssuer) -> None:
    issuer.stored.account("default", "robot", uid="u-2")
    assert why(issuer.show(issuer.made)) == "ServiceAccount UID (u-2) does not match claim (u-1)"

    issuer.stored.drop(ACCOUNTS, "robot", namespace="default")
    assert why(issuer.show(issuer.made)) == 'serviceaccounts "robot" not found'


def test_one_that_was_marked_invalid_is(issuer: TokenIssuer) -> None:
    issuer.keep(issuer.made, labels={INVALID_SINCE: "2026-01-01"})

    assert "has been marked invalid" in why(issuer.show(issuer.made))


@pytest.mark.parametrize(
    ("claim", "value", "said"),
    [
        ("sub", "", "sub claim is missing"),
        ("sub", "system:serviceaccount:default:other", "sub claim is invalid"),
        (f"{PREFIX}/namespace", "", "namespace claim is missing"),
        (f"{PREFIX}/secret.name", "", "secretName claim is missing"),
        (f"{PREFIX}/service-account.uid", "", "serviceAccountUID claim is missing"),
    ],
)
def test_one_that_does_not_say_whose_it_is_is_refused(
    issuer: TokenIssuer, claim: str, value: str, said: str
) -> None:
    assert why(issuer.show(issuer.make({**CLAIMS, claim: value}))) == said


def test_one_by_another_key_is_not_known(issuer: TokenIssuer) -> None:
    stranger = ServiceAccountTokens(issuer.stored.store)

    assert why(issuer.show(stranger.issue(CLAIMS))) == "invalid signature, no keys found"
