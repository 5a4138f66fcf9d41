"""From a text to a tree of which all types are known."""

from collections.abc import Mapping

from steersman.apiserver.cel.cel_types import CelType
from steersman.apiserver.cel.checking import Checked, check
from steersman.apiserver.cel.literals import check_literals
from steersman.apiserver.cel.parsing import parse


def checked_expression(text: str, variables: Mapping[str, CelType]) -> Checked:
    """Parsed and checked, with its literals; raises ``NotCompiled`` with the checker's words."""
    checked = check(parse(text), variables)
    check_literals(checked)
    return checked
