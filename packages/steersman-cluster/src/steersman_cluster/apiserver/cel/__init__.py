"""CEL, the language of validation rules and match conditions, as in kube-apiserver 1.36.

Takes:     texts of expressions, schemas with rules in them, and values
Gives:     values, validation errors of objects and of CustomResourceDefinitions, and the cost of
           each evaluation
Promises:  - a compiled expression can be evaluated several times
           - an expression that kube-apiserver rejects is rejected with the same message
           - an evaluation never costs more than kube-apiserver allows
           - the parser is loaded by the first compilation
Never:     reads objects other than its arguments, or depends on requests

``compiler`` compiles a text into closures, which call the functions in ``library``. ``schemas``
compiles the rules in the schema of a custom resource, and estimates their maximum cost.
"""

from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.errors import CostExceeded, NotCompiled, NotEvaluated
from steersman_cluster.apiserver.cel.expressions import Expression
from steersman_cluster.apiserver.cel.library.authorizer import (
    AuthorizerDecision,
    CelAuthorizer,
    ResourceCheck,
)

__all__ = [
    "AuthorizerDecision",
    "CelAuthorizer",
    "CelType",
    "CostExceeded",
    "Expression",
    "NotCompiled",
    "NotEvaluated",
    "ResourceCheck",
]
