"""Tokens that stand in Secrets: good while the Secret holds them, and for no one else."""

from base64 import b64encode
from typing import Any

import pytest

from steersman.names import GroupResource
from steersman_cluster.apiserver.authn import (
    Bearer,
    NotAccepted,
    ServiceAccountTokens,
    TokenIssuers,
)
from steersman_cluster.apiserver.authn.secret_tokens import INVALID_SINCE, ISSUER
from steersman_cluster.apiserver.authn.signing_keys import SigningKey
from tests.unit.apiserver.authn.kept import Kept

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


class Desk:
    """Where the controller's tokens are shown to a server that trusts its key."""

    def __init__(self) -> None:
        self.kept = Kept()
        self.kept.account("default", "robot")
        issuing = TokenIssuers(signing=KEY, verifying=(KEY,), audiences=("api",))
        self.tokens = ServiceAccountTokens(self.kept.store, issuing)
        self.made = self.make(CLAIMS)
        self.keep(self.made)

    def make(self, claims: dict[str, Any]) -> str:
        return self.tokens.issue(claims)

    def keep(self, token: str, **about: Any) -> None:
        data = {"token": b64encode(token.encode()).decode()}
        metadata = {"name": "token", "namespace": "default", **about}
        self.kept.keep(SECRETS, {"metadata": metadata, "data": data})

    def show(self, token: str, *audiences: str) -> Bearer | NotAccepted | None:
        return self.tokens.bearer(token, audiences=audiences or ("api",))


@pytest.fixture
def desk() -> Desk:
    return Desk()


def why(shown: Bearer | NotAccepted | None) -> str:
    assert isinstance(shown, NotAccepted)
    return shown.why


def test_a_token_in_a_secret_is_its_accounts(desk: Desk) -> None:
    shown = desk.show(desk.made)

    assert isinstance(shown, Bearer)
    assert shown.user.name == "system:serviceaccount:default:robot"
    assert (shown.user.uid, shown.user.extra) == ("u-1", {})
    assert shown.audiences == ("api",)


def test_it_is_for_the_server_itself_only(desk: Desk) -> None:
    assert "is invalid for the target audiences" in why(desk.show(desk.made, "others"))


def test_it_goes_with_its_secret(desk: Desk) -> None:
    desk.keep("another")
    assert why(desk.show(desk.made)) == "Token does not match server's copy"

    desk.kept.drop(SECRETS, "token", namespace="default")
    assert why(desk.show(desk.made)) == "Token has been invalidated"


def test_it_goes_with_its_account(desk: Desk) -> None:
    desk.kept.account("default", "robot", uid="u-2")
    assert why(desk.show(desk.made)) == "ServiceAccount UID (u-2) does not match claim (u-1)"

    desk.kept.drop(ACCOUNTS, "robot", namespace="default")
    assert why(desk.show(desk.made)) == 'serviceaccounts "robot" not found'


def test_one_that_was_marked_invalid_is(desk: Desk) -> None:
    desk.keep(desk.made, labels={INVALID_SINCE: "2026-01-01"})

    assert "has been marked invalid" in why(desk.show(desk.made))


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
def test_one_that_does_not_say_whose_it_is_is_nobodys(
    desk: Desk, claim: str, value: str, said: str
) -> None:
    assert why(desk.show(desk.make({**CLAIMS, claim: value}))) == said


def test_one_by_another_key_is_not_known(desk: Desk) -> None:
    stranger = ServiceAccountTokens(desk.kept.store)

    assert why(desk.show(stranger.issue(CLAIMS))) == "invalid signature, no keys found"
