"""Service account tokens: signature, lifetime, audiences and bound objects."""

import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from steersman.names import GroupResource
from steersman_cluster.apiserver.authn import Bearer, ServiceAccountTokens, TokenRejected
from steersman_cluster.apiserver.authn.account_tokens import BINDABLE, ISSUER, claims_of
from tests.unit.apiserver.authn.stored_objects import StoredObjects

ACCOUNTS = GroupResource("", "serviceaccounts")


class TokenIssuer:
    """Issues and authenticates tokens of one account."""

    def __init__(self) -> None:
        self.stored = StoredObjects()
        self.account = self.stored.account("default", "robot")
        self.tokens = ServiceAccountTokens(self.stored.store)

    def issue(self, **bound: dict[str, Any]) -> str:
        return self.tokens.issue(self.claims(**bound))

    def claims(self, **bound: dict[str, Any]) -> dict[str, Any]:
        return claims_of(
            self.account,
            bound=bound,
            audiences=(ISSUER,),
            now=self.stored.clock.now(),
            seconds=600,
            warn_after_seconds=0,
            token_id="t-1",
        )

    def authenticate(self, token: str) -> Bearer | TokenRejected | None:
        return self.tokens.bearer(token, audiences=(ISSUER,))


@pytest.fixture
def issuer() -> TokenIssuer:
    return TokenIssuer()


def test_a_token_authenticates_its_service_account(issuer: TokenIssuer) -> None:
    outcome = issuer.authenticate(issuer.issue())

    assert isinstance(outcome, Bearer)
    assert outcome.user.name == "system:serviceaccount:default:robot"
    assert outcome.user.uid == "u-1"
    assert outcome.user.groups == ("system:serviceaccounts", "system:serviceaccounts:default")
    assert outcome.user.extra == {"authentication.kubernetes.io/credential-id": ("JTI=t-1",)}


def test_a_service_account_token_is_valid_only_while_its_account_exists(
    issuer: TokenIssuer,
) -> None:
    token = issuer.issue()

    issuer.stored.drop(ACCOUNTS, "robot", namespace="default")
    gone = issuer.authenticate(token)
    issuer.stored.account("default", "robot", uid="u-2")
    another = issuer.authenticate(token)

    assert gone == TokenRejected('serviceaccounts "robot" not found')
    assert another == TokenRejected("service account UID (u-2) does not match claim (u-1)")


def test_a_token_expires_a_minute_after_its_expiration_time(issuer: TokenIssuer) -> None:
    token = issuer.issue()

    issuer.stored.clock.advance(660)
    just_in_time = issuer.authenticate(token)
    issuer.stored.clock.advance(1)
    too_late = issuer.authenticate(token)

    assert isinstance(just_in_time, Bearer)
    assert too_late == TokenRejected("service account token has expired")


def test_a_token_from_the_future_is_not_yet_valid(issuer: TokenIssuer) -> None:
    token = issuer.issue()

    issuer.stored.clock.advance(-61)

    assert issuer.authenticate(token) == TokenRejected("service account token is not valid yet")


@pytest.mark.parametrize("kind", BINDABLE)
def test_a_token_is_invalid_after_its_bound_object_is_deleted(
    kind: str, issuer: TokenIssuer
) -> None:
    namespace = "" if kind == "node" else "default"
    bound = {"metadata": {"name": "it", "namespace": namespace, "uid": "b-1"}}
    issuer.stored.keep(BINDABLE[kind], bound)
    token = issuer.issue(**{kind: bound})

    before = issuer.authenticate(token)
    issuer.stored.drop(BINDABLE[kind], "it", namespace=namespace)
    after = issuer.authenticate(token)
    issuer.stored.keep(BINDABLE[kind], {"metadata": {**bound["metadata"], "uid": "b-2"}})
    another = issuer.authenticate(token)

    assert isinstance(before, Bearer)
    assert after == TokenRejected("service account token has been invalidated")
    why = f"{kind} UID (b-2) does not match service account {kind} ref claim (b-1)"
    assert another == TokenRejected(why)


def test_a_token_is_valid_for_a_minute_after_its_account_is_deleted(issuer: TokenIssuer) -> None:
    token = issuer.issue()
    ending = {**issuer.account["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    issuer.stored.keep(ACCOUNTS, {"metadata": ending})

    issuer.stored.clock.advance(60)
    before = issuer.authenticate(token)
    issuer.stored.clock.advance(1)
    after = issuer.authenticate(token)

    assert isinstance(before, Bearer)
    assert after == TokenRejected("service account default/robot has been deleted")


def test_the_node_of_a_bound_pod_need_not_exist(issuer: TokenIssuer) -> None:
    pod = {"metadata": {"name": "web", "namespace": "default", "uid": "p-1"}}
    issuer.stored.keep(BINDABLE["pod"], pod)

    outcome = issuer.authenticate(issuer.issue(pod=pod, node={"metadata": {"name": "gone"}}))

    assert isinstance(outcome, Bearer)
    assert outcome.user.extra["authentication.kubernetes.io/node-name"] == ("gone",)


def part(content: object) -> str:
    return urlsafe_b64encode(msgspec.json.encode(content)).decode().rstrip("=")


OTHER_FORMATS: list[Callable[[str, str, str], str]] = [
    lambda head, claims, signature: f"{head}.{claims}",
    lambda head, claims, signature: f"{head}.{claims}.{signature}.{signature}",
    lambda head, claims, signature: f"{head}.{claims}.!",
    lambda head, claims, signature: f"{head}.{part([])}.{signature}",
    lambda head, claims, signature: f"{part(1)}.{claims}.{signature}",
    lambda head, claims, signature: f"{head}.{part({'iss': 'them'})}.{signature}",
    lambda head, claims, signature: "opaque",
]


@pytest.mark.parametrize("alter", OTHER_FORMATS)
def test_a_token_of_another_format_is_ignored(
    alter: Callable[[str, str, str], str], issuer: TokenIssuer
) -> None:
    assert issuer.authenticate(alter(*issuer.issue().split("."))) is None


FORGERIES: list[Callable[[str, str, str], str]] = [
    lambda head, claims, signature: f"{part({'alg': 'none'})}.{claims}.",
    lambda head, claims, signature: f"{part({'alg': 'HS256'})}.{claims}.{signature}",
    lambda head, claims, signature: f"{head}.{claims}.",
    lambda head, claims, signature: f"{head}.{claims}.{'A' * 86}",
    lambda head, claims, signature: f"{head}.{claims}.{signature}AAAA",
]


@pytest.mark.parametrize("forge", FORGERIES)
def test_a_token_with_an_invalid_signature_is_rejected(
    forge: Callable[[str, str, str], str], issuer: TokenIssuer
) -> None:
    why = "go-jose/go-jose: error in cryptographic primitive"

    assert issuer.authenticate(forge(*issuer.issue().split("."))) == TokenRejected(why)


def test_a_token_with_modified_claims_is_rejected(issuer: TokenIssuer) -> None:
    head, _, signature = issuer.issue().split(".")
    claims = part({**issuer.claims(), "iss": (ISSUER,)[0], "exp": 2**40})

    assert isinstance(issuer.authenticate(f"{head}.{claims}.{signature}"), TokenRejected)


def test_a_token_of_another_server_is_rejected(issuer: TokenIssuer) -> None:
    token = TokenIssuer().issue()

    before_any_of_our_own = issuer.authenticate(token)
    issuer.issue()
    after = issuer.authenticate(token)

    assert before_any_of_our_own == after == TokenRejected("invalid signature, no keys found")


def test_a_token_for_other_audiences_is_rejected(issuer: TokenIssuer) -> None:
    outcome = issuer.tokens.bearer(issuer.issue(), audiences=("a", "b"))

    assert outcome == TokenRejected(
        'token audiences ["https://kubernetes.default.svc"] is invalid for the target audiences'
        ' ["a" "b"]'
    )


def test_a_token_is_validated_again_although_its_signature_is_cached(issuer: TokenIssuer) -> None:
    token = issuer.issue()
    issuer.authenticate(token)

    issuer.stored.drop(ACCOUNTS, "robot", namespace="default")

    assert isinstance(issuer.authenticate(token), TokenRejected)
    assert token not in repr(vars(issuer.tokens))


def test_cryptography_is_not_loaded_before_the_first_token() -> None:
    program = (
        "import sys; import steersman_cluster.apiserver;"
        "print('cryptography' in sys.modules, 'steersman.wire.server.listener' in sys.modules)"
    )

    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert finished.stdout.strip() == "False False"


ODD_CLAIMS: dict[str, object] = {
    "iss": [ISSUER],
    "aud": {"to": ISSUER},
    "exp": "tomorrow",
    "nbf": [],
    "sub": 7,
    "jti": {},
    "kubernetes.io": "default",
}


@pytest.mark.parametrize("claim", ODD_CLAIMS)
def test_a_claim_of_another_type_makes_a_token_invalid(claim: str, issuer: TokenIssuer) -> None:
    token = issuer.tokens.issue({**issuer.claims(), claim: ODD_CLAIMS[claim]})

    assert not isinstance(issuer.authenticate(token), Bearer)


ODD_REFERENCES: list[object] = [
    {"namespace": ["default"]},
    {"namespace": "default", "serviceaccount": "robot"},
    {"namespace": "default", "serviceaccount": {"name": {}, "uid": "u-1"}},
    {"namespace": "default", "serviceaccount": {"name": "robot", "uid": "u-1"}, "pod": [1]},
    {"serviceaccount": {"name": "robot"}},
    {},
]


@pytest.mark.parametrize("about", ODD_REFERENCES)
def test_a_token_without_a_service_account_is_rejected(about: object, issuer: TokenIssuer) -> None:
    token = issuer.tokens.issue({**issuer.claims(), "kubernetes.io": about})

    assert isinstance(issuer.authenticate(token), TokenRejected)


def test_a_single_audience_need_not_be_a_list(issuer: TokenIssuer) -> None:
    outcome = issuer.authenticate(issuer.tokens.issue({**issuer.claims(), "aud": ISSUER}))

    assert isinstance(outcome, Bearer)
    assert outcome.audiences == (ISSUER,)


@pytest.mark.parametrize("place", [0, 1])
def test_a_deeply_nested_token_is_ignored(place: int, issuer: TokenIssuer) -> None:
    parts = issuer.issue().split(".")
    abyss = b'{"iss":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    parts[place] = urlsafe_b64encode(abyss).decode().rstrip("=")

    assert issuer.authenticate(".".join(parts)) is None
