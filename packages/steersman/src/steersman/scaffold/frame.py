"""Renders the files of a project from templates. No I/O, except that templates are read.

The same values always result in the same text, and a missing value is an error.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from steersman.manifests import Tree
from steersman.scaffold.origin import INDEX
from steersman.scaffold.source_editor import call_lines, import_line

if TYPE_CHECKING:
    from jinja2 import Environment

# The files that every project has, whatever its kinds. ``steersman upgrade`` updates them. Files
# created for a kind belong to the author, and are not among them.
FRAME: Final[Mapping[str, str]] = MappingProxyType(
    {
        ".dockerignore": "dockerignore",
        ".github/workflows/ci.yaml": "ci.yaml",
        ".gitignore": "gitignore",
        "AGENTS.md": "AGENTS.md",
        "Dockerfile": "Dockerfile",
        "Makefile": "Makefile",
        "README.md": "README.md",
        "pyproject.toml": "pyproject.toml",
        "src/{package}/__init__.py": "package.py",
        "src/{package}/__main__.py": "main.py",
        "src/{package}/operator.py": "operator.py",
        "src/{package}/py.typed": "py.typed",
        "tests/test_operator.py": "test_operator.py",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectAnswers:
    """The values from which the frame of a project is rendered.

    The frame consists of the project's files that belong to no kind.
    """

    name: str
    domain: str
    package: str
    scaffold: str  # the version of steersman
    origin: str = INDEX  # its origin


def frame_of(answers: ProjectAnswers) -> Tree:
    """Return every file of the frame, that is, of a project without kinds."""
    words = {
        "name": answers.name,
        "domain": answers.domain,
        "package": answers.package,
        "scaffold": answers.scaffold,
        "origin": answers.origin,
    }
    return {
        path.format(package=answers.package): render(template, **words)
        for path, template in FRAME.items()
    }


def render(template: str, **words: Any) -> str:
    """Render the template ``template`` with the values ``words``."""
    found = _environment().get_template(f"{template}.jinja")
    return found.render(words, call=call_lines, imported=import_line)


@cache
def _environment() -> "Environment":
    # Imported here: a base installation lacks it, and not every command needs it.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("steersman.scaffold"),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - Python, TOML and Make; nothing of it is HTML
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
