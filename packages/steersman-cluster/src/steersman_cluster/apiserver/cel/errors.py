"""The errors of an expression: in its text, or in its evaluation."""

from typing import NamedTuple

_MOST_SHOWN = 100


class NotCompiled(Exception):
    """The text is not a valid expression in its context; the message is kube-apiserver's."""


class NotEvaluated(Exception):
    """The evaluation failed for the given variables; the message is kube-apiserver's."""

    def __init__(self, message: str = "no such overload") -> None:
        super().__init__(message)
        self.message = message
        self.cost = 0


class CostExceeded(Exception):
    """The evaluation exceeded the cost limit of an expression."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Issue(NamedTuple):
    """An error at ``position`` in the text."""

    position: int
    message: str


def shown_issues(text: str, issues: list[Issue]) -> str:
    """Return all issues as text, sorted by position, each with the line of the expression."""
    lines = [_shown(text, each) for each in sorted(issues, key=lambda each: each.position)]
    shown = lines[:_MOST_SHOWN]
    if len(lines) > _MOST_SHOWN:
        shown.append(f"{len(lines) - _MOST_SHOWN} more errors were truncated")
    return "\n".join(shown)


def _shown(text: str, issue: Issue) -> str:
    start = text.rfind("\n", 0, issue.position) + 1
    line = text[start:].split("\n", 1)[0].replace("\t", " ")
    number, column = text.count("\n", 0, issue.position) + 1, issue.position - start
    dots = "".join("." if ord(each) < 128 else "．" for each in line[:column])
    dots += "." * (column - len(dots))
    mark = "＾" if column < len(line) and ord(line[column]) >= 128 else "^"
    return f"ERROR: <input>:{number}:{column + 1}: {issue.message}\n | {line}\n | {dots}{mark}"
