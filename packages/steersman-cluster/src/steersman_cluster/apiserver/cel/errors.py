"""What is wrong with an expression: in its text, or in what it was asked about."""

from typing import NamedTuple

_MOST_SHOWN = 100


class NotCompiled(Exception):
    """The text is no expression that may stand here; the message is the real server's."""


class NotEvaluated(Exception):
    """The expression has no value for these variables; the message is the real server's."""

    def __init__(self, message: str = "no such overload") -> None:
        super().__init__(message)
        self.message = message
        self.cost = 0


class CostExceeded(Exception):
    """The evaluation went on for longer than an expression may."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Issue(NamedTuple):
    """A complaint about the place in the text at ``position``."""

    position: int
    message: str


def shown_issues(text: str, issues: list[Issue]) -> str:
    """All issues, each with the line that it is about, from the first to the last."""
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
