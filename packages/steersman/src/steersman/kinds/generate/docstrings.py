"""Docstrings from the descriptions in a schema; any description is quoted safely."""

import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

# A line that begins like this is a list item, and does not continue the previous line.
_stands_alone = re.compile(r"[-*+] |\d+[.)] ").match


def description_of(schema: Mapping[str, Any]) -> str:
    """Return the description in ``schema``, with one line for each paragraph.

    Only printable characters are included.
    """
    description = schema.get("description")
    lines: list[str] = []
    for line in description.splitlines() if isinstance(description, str) else ():
        words = " ".join("".join(each if each.isprintable() else " " for each in line).split())
        if words and lines and lines[-1] and not _stands_alone(words):
            lines[-1] += f" {words}"
        elif words or (lines and lines[-1]):
            lines.append(words)
    return "\n".join(lines).strip()


def docstring(text: str, *, indent: str, columns: int) -> Iterator[str]:
    """Yield the lines of a docstring with ``text``, formatted as by ruff."""
    written = text.replace("\\", "\\\\").replace('"""', "'''")
    opening = '""" ' if written.startswith('"') else '"""'
    closing = ' """' if written.endswith('"') else '"""'
    width = columns - len(indent)
    lines = _wrapped(written, opening, width)
    if len(lines) == 1 and len(lines[0] + closing) > width:
        lines = _wrapped(written, opening, width - len(closing))
    if len(lines) == 1:
        lines[0] += closing
    else:
        lines.append('"""')
    yield from (f"{indent}{line}" if line else "" for line in lines)


def _wrapped(text: str, opening: str, width: int) -> list[str]:
    lines: list[str] = []
    for number, line in enumerate(text.split("\n")):
        lines += textwrap.wrap(
            line,
            width,
            initial_indent="" if number else opening,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return lines
