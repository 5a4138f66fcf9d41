"""Authentication: the user who sent a request, determined by certificate or token.

Takes:     requests with tokens and client certificates; the stored ServiceAccounts and Secrets
Gives:     the user, and tokens for service accounts
Promises:  - a token is compared in constant time and never kept in the clear
           - a token of a service account is good only while the account is there
Never:     decides what a user may do
"""

from steersman_cluster.apiserver.authn.account_tokens import (
    Bearer,
    NotAccepted,
    ServiceAccountTokens,
    TokenIssuers,
)
from steersman_cluster.apiserver.authn.authenticator import Authenticator

__all__ = ["Authenticator", "Bearer", "NotAccepted", "ServiceAccountTokens", "TokenIssuers"]
