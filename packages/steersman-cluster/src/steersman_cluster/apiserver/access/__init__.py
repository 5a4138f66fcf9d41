"""Who may: from a request to a user, and from a user to yes or no.

Takes:     tokens and client certificates; roles and bindings as they are kept
Gives:     the user who asks, or whom they speak for; whether they may, and by which binding
Promises:  - a token is compared in constant time and never kept in the clear
           - a token of a service account is good only while the account is there
           - a changed role or binding counts from the next request on
           - nobody grants rights that they do not have
           - who impersonates needs the right to every name and group taken on
Never:     answers a request, or changes a role
"""

from steersman_cluster.apiserver.access.account_tokens import (
    AccountTokens,
    Bearer,
    Issuing,
    NotAccepted,
)
from steersman_cluster.apiserver.access.authentication import Authenticator
from steersman_cluster.apiserver.access.denials import denied
from steersman_cluster.apiserver.access.escalation import Escalation
from steersman_cluster.apiserver.access.impersonation import Impersonation
from steersman_cluster.apiserver.access.rbac import (
    ALWAYS_ALLOW,
    NODE,
    RBAC_MODE,
    Attributes,
    Authorizer,
    Decision,
    Granted,
)
from steersman_cluster.apiserver.access.users import ADMINISTRATORS, ANONYMOUS, User

__all__ = [
    "ADMINISTRATORS",
    "ALWAYS_ALLOW",
    "ANONYMOUS",
    "NODE",
    "RBAC_MODE",
    "AccountTokens",
    "Attributes",
    "Authenticator",
    "Authorizer",
    "Bearer",
    "Decision",
    "Escalation",
    "Granted",
    "Impersonation",
    "Issuing",
    "NotAccepted",
    "User",
    "denied",
]
