"""The errors of a CEL expression, at its compilation or at its evaluation."""

from typing import NamedTuple

_MAX_SHOWN = 100


class NotCompiled(Exception):
    """A text is not a valid CEL expression in its context; the message is kube-apiserver's."""


class NotEvaluated(Exception):
    """The evaluation of a CEL expression failed; the message is kube-apiserver's."""

    def __init__(self, message: str = "no such overload") -> None:
        super().__init__(message)
        self.message = message
        self.cost = 0


class CostExceeded(Exception):
    """The evaluation of a CEL expression exceeded the cost limit for one expression."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Issue(NamedTuple):
    """A compilation error at ``position`` in the text of an expression."""

    position: int
    message: str


def shown_issues(text: str, issues: list[Issue]) -> str:
    """Return a message with all ``issues``, sorted by position.

    The message contains, for each issue, its line of the expression ``text``.
    """
    lines = [_shown(text, each) for each in sorted(issues, key=lambda each: each.position)]
    shown = lines[:_MAX_SHOWN]
    if len(lines) > _MAX_SHOWN:
        shown.append(f"{len(lines) - _MAX_SHOWN} more errors were truncated")
    return "\n".join(shown)


def _shown(text: str, issue: Issue) -> str:
    start = text.rfind("\n", 0, issue.position) + 1
    line = text[start:].split("\n", 1)[0].replace("\t", " ")
    number, column = text.count("\n", 0, issue.position) + 1, issue.position - start
    dots = "".join("." if ord(each) < 128 else "．" for each in line[:column])
    dots += "." * (column - len(dots))
    mark = "＾" if column < len(line) and ord(line[column]) >= 128 else "^"
    return f"ERROR: <input>:{number}:{column + 1}: {issue.message}\n | {line}\n | {dots}{mark}"
