"""Service account tokens: signed, so that the server does not have to store them.

A token authenticates its bearer as its service account as long as the account exists. If the token
is bound to a Pod, Secret or Node, that object must exist, too.
"""

import hashlib
from base64 import b64decode, urlsafe_b64encode
from binascii import Error as BadBase64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from steersman.names import GroupResource
from steersman.units import parse_time
from steersman_cluster.apiserver.authn import secret_tokens
from steersman_cluster.apiserver.authn.token_claims import (
    BadClaims,
    Claims,
    claims_in,
    json_object,
)
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.field_errors import shown
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext
from steersman_cluster.apiserver.meta.users import NODE_NAME, User, account_groups, account_user

if TYPE_CHECKING:
    from steersman_cluster.apiserver.authn.signing_keys import SigningKey, VerifyingKey

ISSUER = "https://kubernetes.default.svc"

ACCOUNTS = GroupResource("", "serviceaccounts")
BINDABLE = {
    "pod": GroupResource("", "pods"),
    "secret": GroupResource("", "secrets"),
    "node": GroupResource("", "nodes"),
}

_CLAIM = "kubernetes.io"
_INFO = "authentication.kubernetes.io"
# The allowed clock skew.
_LEEWAY = timedelta(minutes=1)
# The size of the cache of verified tokens; a guess at how many are in use at a time.
_CACHED_TOKENS = 1000


class Bearer(NamedTuple):
    """The user that a token authenticates, and the audiences for which the token is valid."""

    user: User
    audiences: tuple[str, ...]


class TokenRejected(NamedTuple):
    """The reason why a token is rejected."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenIssuers:
    """The issuers and keys of service account tokens.

    New tokens name the first of ``issuers``; tokens of all ``issuers`` are accepted. If there is no
    key in ``signing``, the server generates one when it first needs it; this key never leaves the
    process. Tokens signed with the generated key are accepted only if ``verifying`` is empty.
    """

    issuers: tuple[str, ...] = (ISSUER,)
    audiences: tuple[str, ...] = ()  # of the API server; by default its issuers
    signing: "SigningKey | None" = None
    verifying: tuple["VerifyingKey", ...] = ()


class ServiceAccountTokens:
    """Issues and verifies service account tokens."""

    def __init__(self, store: StrategyContext, issuing: TokenIssuers | None = None) -> None:
        self._store = store
        self._issuing = issuing or TokenIssuers()
        self._key = self._issuing.signing
        self._issuers = frozenset((*self._issuing.issuers, secret_tokens.ISSUER))
        self._checked: dict[bytes, Claims] = {}
        self.audiences = self._issuing.audiences or self._issuing.issuers

    @property
    def issuer(self) -> str:
        """The issuer that new tokens name."""
        return self._issuing.issuers[0]

    def known_keys(self) -> tuple["VerifyingKey", ...]:
        """Return the public keys that verify the signatures of tokens."""
        if self._issuing.verifying:
            return self._issuing.verifying
        self._key = self._key or _new_key()
        return (self._key,)

    def issue(self, claims: Mapping[str, Any]) -> str:
        """Return a signed token with ``claims`` and the issuer."""
        key = self._key = self._key or _new_key()
        parts = ({"alg": key.algorithm, "kid": key.id}, {"iss": self.issuer, **claims})
        message = ".".join(_encoded(msgspec.json.encode(each, order="sorted")) for each in parts)
        return f"{message}.{_encoded(key.sign(message.encode()))}"

    def bearer(self, token: str, *, audiences: Sequence[str]) -> Bearer | TokenRejected | None:
        """Return the user of ``token``, or the reason why ``token`` is rejected.

        A token is rejected if it is valid for none of ``audiences``. Returns None if ``token``
        names none of the accepted issuers.
        """
        claims = self._claims(token)
        if not isinstance(claims, Claims):
            return claims
        # A legacy token, from a Secret, has no audiences and is for the API server.
        stated = claims.audiences or self.audiences
        meant = tuple(each for each in stated if each in audiences)
        if not meant:
            return TokenRejected(
                f"token audiences {_listed(stated)} is invalid for the target audiences"
                f" {_listed(audiences)}"
            )
        if claims.issuer == secret_tokens.ISSUER:
            found = secret_tokens.user_of_secret_token(claims, token, self._store)
            return TokenRejected(found) if isinstance(found, str) else Bearer(found, meant)
        now = self._store.clock.now()
        why = _time_error(claims, now) or self._invalidity(claims, now)
        return TokenRejected(why) if why else Bearer(_user(claims), meant)

    def _claims(self, token: str) -> Claims | TokenRejected | None:
        digest = hashlib.sha256(token.encode()).digest()
        if (known := self._checked.get(digest)) is not None:
            return known
        try:
            head, said, signature = map(_decoded, token.split("."))
        except (ValueError, BadBase64):
            return None
        about, written = json_object(head), json_object(said)
        if about is None or written is None:
            return None
        issuer = written.get("iss")
        if not isinstance(issuer, str) or issuer not in self._issuers:
            return None
        keys = self._issuing.verifying or ((self._key,) if self._key else ())
        keys = tuple(key for key in keys if about.get("kid", key.id) == key.id)
        if not keys:
            return TokenRejected("invalid signature, no keys found")
        message = token.rpartition(".")[0].encode()
        if not any(
            key.algorithm == about.get("alg") and key.verifies(message, signature) for key in keys
        ):
            return TokenRejected("go-jose/go-jose: error in cryptographic primitive")
        try:
            claims = claims_in(written)
        except BadClaims as problem:
            return TokenRejected(f"go-jose/go-jose/jwt: failed to unmarshal claims: {problem}")
        if len(self._checked) >= _CACHED_TOKENS:
            self._checked.clear()
        self._checked[digest] = claims
        return claims

    def _invalidity(self, claims: Claims, now: datetime) -> str:
        """Return why an unexpired token is no longer valid; an empty text if it is valid."""
        stated = claims.private
        namespace, ref = stated.namespace, stated.serviceaccount
        account = self._store.find(ACCOUNTS, namespace, ref.name)
        if account is None:
            return f'serviceaccounts "{ref.name}" not found'
        uid = account["metadata"]["uid"]
        if uid != ref.uid:
            return f"service account UID ({uid}) does not match claim ({ref.uid})"
        if _is_deletion_due(account, now):
            return f"service account {namespace}/{ref.name} has been deleted"
        for kind, resource in BINDABLE.items():
            claimed = stated.bound(kind)
            # A token is bound to one object: with a Pod, the node is only informative.
            if claimed is not None and not (kind == "node" and stated.pod is not None):
                where = "" if kind == "node" else namespace
                bound = self._store.find(resource, where, claimed.name)
                if bound is None or _is_deletion_due(bound, now):
                    return "service account token has been invalidated"
                uid = bound["metadata"]["uid"]
                if uid != claimed.uid:
                    return (
                        f"{kind} UID ({uid}) does not match service account {kind} ref claim"
                        f" ({claimed.uid})"
                    )
        return ""

    def __repr__(self) -> str:
        return f"<AccountTokens {len(self._checked)} checked>"


def _new_key() -> "SigningKey":
    try:
        # Needs the package cryptography.
        from steersman_cluster.apiserver.authn.signing_keys import SigningKey
    except ImportError:
        raise status_errors.internal_error(
            "tokens are signed with the package cryptography, which is not installed;"
            " it comes with steersman[dev]"
        ) from None
    return SigningKey()


def claims_of(
    account: Object,
    *,
    bound: Mapping[str, Object],
    audiences: Iterable[str],
    now: datetime,
    seconds: int,
    warn_after_seconds: int,
    token_id: str,
) -> dict[str, Any]:
    """Return the claims of a new token for the ServiceAccount ``account``.

    ``bound`` contains, by kind, the objects to which the token is bound.
    """
    about = account["metadata"]
    stated = {
        "namespace": about["namespace"],
        "serviceaccount": _reference(account),
        **{kind: _reference(each) for kind, each in bound.items()},
    }
    at = int(now.timestamp())
    if warn_after_seconds:
        stated["warnafter"] = at + warn_after_seconds
    return {
        "aud": list(audiences),
        "exp": at + seconds,
        "iat": at,
        "jti": token_id,
        "nbf": at,
        "sub": account_user(about["namespace"], about["name"]),
        _CLAIM: stated,
    }


def _reference(obj: Object) -> dict[str, str]:
    about = obj["metadata"]
    return {name: about[name] for name in ("name", "uid") if name in about}


def _user(claims: Claims) -> User:
    stated = claims.private
    namespace, account = stated.namespace, stated.serviceaccount
    extra = {f"{_INFO}/credential-id": (f"JTI={claims.token_id}",)} if claims.token_id else {}
    if node := stated.node:
        extra[NODE_NAME] = (node.name,)
        if node.uid:
            extra[f"{_INFO}/node-uid"] = (node.uid,)
    if pod := stated.pod:
        extra[f"{_INFO}/pod-name"] = (pod.name,)
        extra[f"{_INFO}/pod-uid"] = (pod.uid,)
    return User(
        name=account_user(namespace, account.name),
        uid=account.uid,
        groups=account_groups(namespace),
        extra=extra,
    )


def _time_error(claims: Claims, now: datetime) -> str:
    at, leeway = now.timestamp(), _LEEWAY.total_seconds()
    if claims.not_before is not None and at + leeway < claims.not_before:
        return "service account token is not valid yet"
    if claims.expiry is not None and at - leeway > claims.expiry:
        return "service account token has expired"
    return ""


def _is_deletion_due(obj: Object, now: datetime) -> bool:
    deadline = obj["metadata"].get("deletionTimestamp")
    return deadline is not None and parse_time(deadline) < now - _LEEWAY


def _encoded(part: bytes) -> str:
    return urlsafe_b64encode(part).decode().rstrip("=")


def _decoded(part: str) -> bytes:
    return b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)


def _listed(texts: Iterable[str]) -> str:
    return f"[{' '.join(map(shown, texts))}]"
