"""Views of a cluster for people: its objects as a tree of owners, with their state.

Takes:     the objects of a cluster, the reconciles of controllers, and the time
Gives:     lines of text, as a tree for a terminal or as one line for each change; a ``Screen`` that
           shows them
Promises:  - an object stands below its owner
           - a line is never wider than the terminal
           - if not all lines fit, objects with problems come first
           - an unchanged object is not reported twice
           - only changed lines are drawn again
           - a terminal is restored to its previous state
           - color is for terminals only
Never:     writes to a cluster, or draws more often than eyes can follow
"""

from steersman.view.changes import ChangeLines
from steersman.view.lines import Line, Span, printable, text_of
from steersman.view.object_view import ObjectView
from steersman.view.reconciles import Reconciled, reconciled
from steersman.view.screen import Screen, keep_shown, wants_color
from steersman.view.states import ObjectState, state_of
from steersman.view.tree import Branch, branches, fitting_lines, length_ago, tree_lines

__all__ = [
    "Branch",
    "ChangeLines",
    "Line",
    "ObjectState",
    "ObjectView",
    "Reconciled",
    "Screen",
    "Span",
    "branches",
    "fitting_lines",
    "keep_shown",
    "length_ago",
    "printable",
    "reconciled",
    "state_of",
    "text_of",
    "tree_lines",
    "wants_color",
]
