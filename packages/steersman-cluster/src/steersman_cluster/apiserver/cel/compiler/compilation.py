"""The compilation of an expression's text to a tree with checked types."""

from collections.abc import Mapping

from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.compiler.checker import Checked, check
from steersman_cluster.apiserver.cel.compiler.literals import check_literals
from steersman_cluster.apiserver.cel.compiler.parser import parse


def checked_expression(text: str, variables: Mapping[str, CelType]) -> Checked:
    """Parse and type-check the expression ``text``.

    ``variables`` contains the types of its variables. Raises ``NotCompiled`` with the error message
    of kube-apiserver.
    """
    checked = check(parse(text), variables)
    check_literals(checked)
    return checked
