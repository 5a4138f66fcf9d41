"""The claims of a service account token, with the types that Kubernetes defines. No I/O."""

from typing import Any

import msgspec


class BoundReference(msgspec.Struct, frozen=True):
    """A reference, in a token's claims, to an object."""

    name: str = ""
    uid: str = ""


class PrivateClaims(msgspec.Struct, frozen=True):
    """The claims of a token under the key ``kubernetes.io``."""

    namespace: str = ""
    serviceaccount: BoundReference = BoundReference()
    pod: BoundReference | None = None
    secret: BoundReference | None = None
    node: BoundReference | None = None

    def bound(self, kind: str) -> BoundReference | None:
        """Return the reference to the object of ``kind`` to which the token is bound, or None."""
        return {"pod": self.pod, "secret": self.secret, "node": self.node}[kind]


class Claims(msgspec.Struct, frozen=True):
    """The claims of a token. A missing claim has its zero value, as in Go."""

    issuer: str = msgspec.field(name="iss", default="")
    subject: str = msgspec.field(name="sub", default="")
    audience: str | list[str] | None = msgspec.field(name="aud", default=None)
    expiry: float | None = msgspec.field(name="exp", default=None)
    not_before: float | None = msgspec.field(name="nbf", default=None)
    issued_at: float | None = msgspec.field(name="iat", default=None)
    token_id: str = msgspec.field(name="jti", default="")
    private: PrivateClaims = msgspec.field(name="kubernetes.io", default=PrivateClaims())

    # The claims of a legacy token, from a Secret.
    secret_namespace: str = msgspec.field(name="kubernetes.io/serviceaccount/namespace", default="")
    secret_name: str = msgspec.field(name="kubernetes.io/serviceaccount/secret.name", default="")
    secret_account: str = msgspec.field(
        name="kubernetes.io/serviceaccount/service-account.name", default=""
    )
    secret_account_uid: str = msgspec.field(
        name="kubernetes.io/serviceaccount/service-account.uid", default=""
    )

    @property
    def audiences(self) -> tuple[str, ...]:
        """The audiences of the token; the claim ``aud`` is a string or a list of strings."""
        if isinstance(self.audience, str):
            return (self.audience,)
        return tuple(self.audience or ())


class BadClaims(Exception):
    """Claims do not have the types of a service account token's claims."""


def json_object(part: bytes) -> dict[str, Any] | None:
    """Return the JSON object encoded in ``part``, one of the parts of a token, or None.

    The result is None if ``part`` does not encode a JSON object.
    """
    try:
        return msgspec.json.decode(part, type=dict[str, Any])
    except (UnicodeDecodeError, RecursionError, msgspec.MsgspecError):
        return None


def claims_in(written: dict[str, Any]) -> Claims:
    """Return the claims in ``written``, the payload of a token.

    Raises ``BadClaims`` if a claim has the wrong type.
    """
    # Go decodes null as a missing claim.
    present = {name: value for name, value in written.items() if value is not None}
    try:
        return msgspec.convert(present, Claims)
    except msgspec.ValidationError as problem:
        raise BadClaims(str(problem)) from None
