"""Authentication determines the user who sent a request, by certificate or token.

Takes:     requests with tokens and client certificates; the stored ServiceAccounts and Secrets
Gives:     the user, and tokens for service accounts
Promises:  - a token is compared in constant time and never stored in plain text
           - a service account token is valid only while its account exists
Never:     decides which requests are permitted to a user
"""

from steersman_cluster.apiserver.authn.account_tokens import (
    Bearer,
    ServiceAccountTokens,
    TokenIssuers,
    TokenRejected,
)
from steersman_cluster.apiserver.authn.authenticator import Authenticator

__all__ = ["Authenticator", "Bearer", "ServiceAccountTokens", "TokenIssuers", "TokenRejected"]
