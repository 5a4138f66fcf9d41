"""Explanations of errors: the cause, the fix and an example of each class.

``explanations.toml`` in the package of the errors contains the causes and the fixes. The rest is
taken from the class: the docstring, and the message that it makes of the arguments of the example.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import cleandoc
from typing import Any, Final

from steersman.errors.root import SteersmanError

# Each entry point of this group is a package with errors and their explanations.
ENTRY_POINTS: Final = "steersman.errors"

_WIDTH: Final = 96


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What an error means: ``str()`` of it is a section in Markdown.

    ``example`` is a message of the error. It is empty for a class that is only the base of others.
    """

    name: str
    meaning: str
    cause: str
    fix: str
    example: str = ""

    def __str__(self) -> str:
        paragraphs = [
            f"## {self.name}",
            *map(_filled, self.meaning.split("\n\n")),
            _filled(f"**Cause:** {self.cause}"),
            _filled(f"**Fix:** {self.fix}"),
        ]
        if self.example:
            paragraphs.append(f"```text\n{self.example}\n```")
        return "\n\n".join(paragraphs)


def explanations() -> dict[str, Explanation]:
    """Return the explanations of the errors of all installed distributions, by class name."""
    from importlib.metadata import entry_points  # takes a while

    own = __name__.rpartition(".")[0]
    packages = sorted({each.value for each in entry_points(group=ENTRY_POINTS)} - {own})
    found = explanations_in(own)
    for package in packages:
        found |= explanations_in(package)
    return found


def explanations_in(package: str) -> dict[str, Explanation]:
    """Return the explanations of the errors in ``package``, in the order of its file."""
    module = import_module(package)
    return {
        name: _explanation(getattr(module, name), entry)
        for name, entry in _entries(package).items()
    }


def example_arguments(package: str) -> dict[str, dict[str, Any]]:
    """Return the arguments of the example of each error in ``package`` that has an example."""
    entries = _entries(package).items()
    return {name: entry["example"] for name, entry in entries if "example" in entry}


def _entries(package: str) -> dict[str, dict[str, Any]]:
    # Only for explanations: these take a while.
    import tomllib
    from importlib import resources

    text = resources.files(package).joinpath("explanations.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _explanation(error: type[SteersmanError], entry: Mapping[str, Any]) -> Explanation:
    example = entry.get("example")
    return Explanation(
        name=error.__name__,
        # python -OO removes docstrings
        meaning=cleandoc(error.__doc__ or f"{error.__name__} was raised.").replace("``", "`"),
        cause=" ".join(entry["cause"].split()),
        fix=" ".join(entry["fix"].split()),
        example="" if example is None else str(error(**example)).strip(),
    )


def _filled(paragraph: str) -> str:
    from textwrap import fill

    return fill(" ".join(paragraph.split()), _WIDTH, break_long_words=False, break_on_hyphens=False)
