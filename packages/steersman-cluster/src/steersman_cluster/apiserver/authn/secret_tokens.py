"""Tokens in Secrets: without expiry, and valid as long as the Secret exists.

kube-controller-manager signs these tokens, with a key that the server is configured to trust.
"""

import hmac
from base64 import b64decode

from steersman.names import GroupResource
from steersman_cluster.apiserver.authn.token_claims import Claims
from steersman_cluster.apiserver.meta.strategy import StrategyContext
from steersman_cluster.apiserver.meta.users import User, account_groups, account_of, account_user

ISSUER = "kubernetes/serviceaccount"
INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since"

_SECRETS = GroupResource("", "secrets")
_ACCOUNTS = GroupResource("", "serviceaccounts")


def user_of_secret_token(claims: Claims, token: str, store: StrategyContext) -> User | str:
    """Return the user of ``token``, or the reason why ``token`` is rejected.

    ``claims`` are the token's claims; its Secret and its account are looked up in ``store``.
    """
    namespace, secret_name = claims.secret_namespace, claims.secret_name
    name, uid = claims.secret_account, claims.secret_account_uid
    required = {
        "sub": claims.subject,
        "namespace": namespace,
        "secretName": secret_name,
        "serviceAccountName": name,
        "serviceAccountUID": uid,
    }
    if (missing := next((each for each in required if not required[each]), None)) is not None:
        return f"{missing} claim is missing"
    if account_of(claims.subject) != (namespace, name):
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
