"""Tokens that stand in a Secret: without an end, and good for as long as the Secret is there.

kube-controller-manager signs them, with a key that the server was told to trust.
"""

import hmac
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from steersman.apiserver.access.users import User, account_groups, account_of, account_user
from steersman.apiserver.store import Store
from steersman.names import GroupResource

ISSUER = "kubernetes/serviceaccount"
INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since"

_SECRETS = GroupResource("", "secrets")
_ACCOUNTS = GroupResource("", "serviceaccounts")
_PREFIX = "kubernetes.io/serviceaccount/"
_CLAIMS = {
    "namespace": "namespace",
    "secret.name": "secretName",
    "service-account.name": "serviceAccountName",
    "service-account.uid": "serviceAccountUID",
}


def holder(claims: Mapping[str, Any], token: str, store: Store) -> User | str:
    """Whose token it is, or why it is nobody's."""
    if not claims.get("sub"):
        return "sub claim is missing"
    for claim, called in _CLAIMS.items():
        if not claims.get(f"{_PREFIX}{claim}"):
            return f"{called} claim is missing"
    namespace, secret_name, name, uid = (claims[f"{_PREFIX}{claim}"] for claim in _CLAIMS)
    if account_of(claims["sub"]) != (namespace, name):
        return "sub claim is invalid"
    secret = store.find(_SECRETS, namespace, secret_name)
    if secret is None or "deletionTimestamp" in secret["metadata"]:
        return "Token has been invalidated"
    kept = b64decode((secret.get("data") or {}).get("token") or "")
    if not hmac.compare_digest(kept, token.encode()):
        return "Token does not match server's copy"
    account = store.find(_ACCOUNTS, namespace, name)
    if account is None:
        return f'serviceaccounts "{name}" not found'
    if "deletionTimestamp" in account["metadata"]:
        return f"ServiceAccount {namespace}/{name} has been deleted"
    if account["metadata"]["uid"] != uid:
        return f"ServiceAccount UID ({account['metadata']['uid']}) does not match claim ({uid})"
    if (secret["metadata"].get("labels") or {}).get(INVALID_SINCE):
        return (
            f"the token in secret {namespace}/{secret_name} for service account {namespace}/{name}"
            " has been marked invalid. Use tokens from the TokenRequest API or manually created"
            f" secret-based tokens, or remove the '{INVALID_SINCE}' label from the secret to"
            " temporarily allow use of this token"
        )
    return User(name=account_user(namespace, name), uid=uid, groups=account_groups(namespace))
