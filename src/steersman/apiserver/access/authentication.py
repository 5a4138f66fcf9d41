"""Who asks: by certificate, by token, or nobody in particular."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence

from steersman.apiserver.access.account_tokens import (
    AUDIENCES,
    AccountTokens,
    Bearer,
    NotAccepted,
)
from steersman.apiserver.access.users import ANONYMOUS, AUTHENTICATED, User
from steersman.apiserver.asking.negotiating import header
from steersman.apiserver.refusals import unauthorized
from steersman.wire import ClientCertificate, Request

_UNKNOWN = "invalid bearer token"


class Authenticator:
    """Knows users by what they show."""

    def __init__(self, tokens: Mapping[str, User], accounts: AccountTokens) -> None:
        self._users = {
            _digest(token): user.joining(AUTHENTICATED) for token, user in tokens.items()
        }
        self._accounts = accounts

    def user(self, request: Request, certificate: ClientCertificate | None) -> User:
        """Who asks; a token that nobody has is refused, no token at all is not."""
        if certificate is not None and certificate.common_name:
            user = User(name=certificate.common_name, groups=certificate.organizations)
            return user.joining(AUTHENTICATED)
        scheme, _, rest = header(request, "authorization").strip().partition(" ")
        token = rest.partition(" ")[0]
        if scheme.lower() != "bearer" or not token:
            return ANONYMOUS
        found = self.bearer(token)
        if isinstance(found, NotAccepted):
            raise unauthorized()
        return found.user

    def bearer(self, token: str, *, audiences: Sequence[str] = AUDIENCES) -> Bearer | NotAccepted:
        """Who may show ``token`` to one of ``audiences``."""
        digest = _digest(token)
        # All of them, so that the time it takes tells nothing about any.
        users = [user for known, user in self._users.items() if hmac.compare_digest(known, digest)]
        meant = tuple(each for each in AUDIENCES if each in audiences)
        if users and meant:
            return Bearer(users[0], meant)
        found = self._accounts.bearer(token, audiences=audiences)
        if found is None:
            return NotAccepted(_UNKNOWN)
        if isinstance(found, NotAccepted):
            return NotAccepted(f"[{_UNKNOWN}, {found.why}]")
        return found._replace(user=found.user.joining(AUTHENTICATED))

    def __repr__(self) -> str:
        return f"<Authenticator of {len(self._users)} tokens>"


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
