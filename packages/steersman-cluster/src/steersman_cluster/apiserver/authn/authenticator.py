"""The authentication of a request: by certificate, by token, or as the anonymous user."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from functools import lru_cache

from steersman.wire import CertificateIdentity, Request
from steersman_cluster.apiserver.authn.account_tokens import (
    Bearer,
    ServiceAccountTokens,
    TokenRejected,
)
from steersman_cluster.apiserver.meta.status_errors import unauthorized
from steersman_cluster.apiserver.meta.users import ANONYMOUS, AUTHENTICATED, CREDENTIAL, User
from steersman_cluster.apiserver.request.negotiation import header

_UNKNOWN = "invalid bearer token"


class Authenticator:
    """An authenticator for client certificates, static tokens and service account tokens."""

    def __init__(
        self, tokens: Mapping[str, User], accounts: ServiceAccountTokens, *, anonymous: bool = True
    ) -> None:
        self._users = {
            _digest(token): user.joining(AUTHENTICATED) for token, user in tokens.items()
        }
        self._accounts = accounts
        self._anonymous = anonymous

    def user(self, request: Request, certificate: CertificateIdentity | None) -> User:
        """Return the user who sent ``request``; raise ``Unauthorized`` for an invalid token.

        A request with neither certificate nor token is anonymous. If anonymous access is turned
        off, such a request raises ``Unauthorized``, too.
        """
        if certificate is not None and certificate.common_name:
            return _user_of_certificate(certificate)
        scheme, _, rest = header(request, "Authorization").strip().partition(" ")
        token = rest.partition(" ")[0]
        if scheme.lower() != "bearer" or not token:
            if not self._anonymous:
                raise unauthorized()
            return ANONYMOUS
        found = self.bearer(token)
        if isinstance(found, TokenRejected):
            raise unauthorized()
        return found.user

    def bearer(self, token: str, *, audiences: Sequence[str] = ()) -> Bearer | TokenRejected:
        """Return the user of ``token``, or the reason why ``token`` is rejected.

        A token is rejected if it is valid for none of ``audiences``. By default, these are the
        audiences of this server.
        """
        own = self._accounts.audiences
        audiences = audiences or own
        meant = own if audiences is own else tuple(each for each in own if each in audiences)
        digest = _digest(token)
        # All tokens are compared, so that the duration does not depend on the match.
        users = [user for known, user in self._users.items() if hmac.compare_digest(known, digest)]
        if users and meant:
            return Bearer(users[0], meant)
        found = self._accounts.bearer(token, audiences=audiences)
        if found is None:
            return TokenRejected(_UNKNOWN)
        if isinstance(found, TokenRejected):
            return TokenRejected(f"[{_UNKNOWN}, {found.why}]")
        return found._replace(user=found.user.joining(AUTHENTICATED))

    def __repr__(self) -> str:
        return f"<Authenticator of {len(self._users)} tokens>"


@lru_cache(maxsize=64)  # a client sends many requests over one connection
def _user_of_certificate(certificate: CertificateIdentity) -> User:
    shown = certificate.fingerprint
    user = User(
        name=certificate.common_name,
        groups=certificate.organizations,
        extra={CREDENTIAL: (f"X509SHA256={shown}",)} if shown else {},
    )
    return user.joining(AUTHENTICATED)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
