"""Authorization decides whether a user is permitted to perform a request.

Takes:     a user, the verb and resource of a request; the stored roles and bindings
Gives:     a decision with the binding that is its reason; the user that a request impersonates
Promises:  - a changed role or binding applies to the next request
           - a user cannot grant permissions that the user lacks
           - impersonation requires the permission for every impersonated name and group
Never:     authenticates a request, responds to it, or changes a role
"""

from steersman_cluster.apiserver.authz.denials import authorize, denied
from steersman_cluster.apiserver.authz.escalation import Escalation
from steersman_cluster.apiserver.authz.impersonation import ImpersonationHandler
from steersman_cluster.apiserver.authz.rbac import (
    ALWAYS_ALLOW,
    NODE,
    RBAC_MODE,
    Attributes,
    Authorizer,
    Decision,
    EffectiveRules,
    attributes_of,
)

__all__ = [
    "ALWAYS_ALLOW",
    "NODE",
    "RBAC_MODE",
    "Attributes",
    "Authorizer",
    "Decision",
    "EffectiveRules",
    "Escalation",
    "ImpersonationHandler",
    "attributes_of",
    "authorize",
    "denied",
]
