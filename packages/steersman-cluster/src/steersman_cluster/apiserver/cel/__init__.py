"""CEL, the language of validation rules and match conditions, as kube-apiserver 1.36 has it.

Takes:     texts of expressions, schemas with rules in them, and values
Gives:     values, the errors of objects and of definitions, and what each cost
Promises:  - an expression is compiled once and evaluated as often as one likes
           - what the real server would not compile is refused with its words
           - an evaluation never costs more than the real server allows
           - nobody loads the parser before there is an expression
Never:     reads objects other than those it is given, or knows about requests

Google's parser reads the text (``parsing``, with ``macros``); ``checking`` finds the types by the
tables in ``declarations``; ``planning`` makes closures of the tree, which call ``operators``,
``strings``, ``lists`` and the other modules of functions; ``estimating`` says what an expression
may cost at most. ``schema_rules`` does all this for the rules in the schema of a custom resource.
"""

from steersman_cluster.apiserver.cel.authorizing import Authorizer, ResourceCheck, Verdict
from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.expressions import Expression
from steersman_cluster.apiserver.cel.problems import CostExceeded, NotCompiled, NotEvaluated

__all__ = [
    "Authorizer",
    "CelType",
    "CostExceeded",
    "Expression",
    "NotCompiled",
    "NotEvaluated",
    "ResourceCheck",
    "Verdict",
]
