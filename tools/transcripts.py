"""What is typed into a terminal and what it shows, as text: read, and held against the truth. Pure.

    $ kubectl get robot
    NAME        AGE
    robot-one   …

``…`` stands for anything within a line, on a line of its own for any number of lines. How far
columns are apart does not count. An empty line ends what is shown: what follows is a remark.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

PROMPT = "$ "
ANYTHING = "…"


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and what it shows."""

    line: int
    command: str
    shown: tuple[str, ...]

    @property
    def stays(self) -> bool:
        """Whether it goes on beside those after it."""
        return self.command.endswith(" &")

    @property
    def asks(self) -> bool:
        """Whether it only asks, so that it can be asked until the answer is right."""
        return self.command.startswith(("kubectl get ", "kubectl describe ", "sort "))

    def fits(self, said: str) -> bool:
        """Whether this is what it should show."""
        return re.fullmatch(_pattern(self.shown), _even(said.splitlines())) is not None


def steps(text: str) -> Iterator[Step]:
    """The steps of a transcript."""
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if line.startswith(PROMPT):
            shown = takewhile(lambda each: each and not each.startswith(PROMPT), lines[number:])
            yield Step(number, line.removeprefix(PROMPT), tuple(shown))


def _even(lines: list[str]) -> str:
    return "".join(" ".join(line.split()) + "\n" for line in lines if line.strip())


def _pattern(shown: tuple[str, ...]) -> str:
    return "".join(
        "(?:.*\n)*" if line.strip() == ANYTHING else _line_pattern(line) for line in shown
    )


def _line_pattern(line: str) -> str:
    words = " ".join(line.split())
    return ".*".join(re.escape(part) for part in words.split(ANYTHING)) + "\n"
