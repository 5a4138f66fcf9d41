"""Transcripts: commands and their output as text, parsed and compared with real output. Pure.

    $ kubectl get robot
    NAME        AGE
    robot-one   …

``…`` stands for anything within a line, and on its own line for any number of lines. The distance
between columns does not matter. An empty line ends the output: what follows is a remark.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

PROMPT = "$ "
ANYTHING = "…"


@dataclass(frozen=True, slots=True)
class Step:
    """A command and its output."""

    line: int
    command: str
    shown: tuple[str, ...]

    @property
    def stays(self) -> bool:
        """Whether it keeps running beside the following commands."""
        return self.command.endswith(" &")

    @property
    def asks(self) -> bool:
        """Whether it only reads, so that it can be repeated until the output is right."""
        return self.command.startswith(("kubectl get ", "kubectl describe ", "sort "))

    def fits(self, said: str) -> bool:
        """Whether this is the expected output."""
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
