"""Lines of text with tones, which a terminal may show in color."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias
from unicodedata import category, combining, east_asian_width

Tone: TypeAlias = Literal["", "good", "waiting", "bad", "quiet", "strong"]


@dataclass(frozen=True, slots=True)
class Span:
    """A text and its tone."""

    text: str
    tone: Tone = ""


Line: TypeAlias = tuple[Span, ...]


def text_of(line: Iterable[Span]) -> str:
    """Return the text of a line without its tones."""
    return "".join(span.text for span in line)


def width_of(text: str) -> int:
    """Return the number of terminal columns of ``text``."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def padded(text: str, width: int) -> str:
    """Return ``text``, padded with spaces to ``width`` columns."""
    return text + " " * (width - width_of(text))


def cut(line: Line, width: int) -> Line:
    """Return ``line``, truncated to ``width`` columns; ``…`` replaces the rest."""
    if sum(width_of(span.text) for span in line) <= width:
        return line
    return tuple(_cut(line, width - 1)) if width > 0 else ()


def shortened(name: str, width: int) -> str:
    """Return ``name``, with ``…`` in its middle if it is wider than ``width`` columns.

    The end is preserved, because many names differ only at the end.
    """
    if width_of(name) <= width:
        return name
    end = ""
    for letter in reversed(name):
        if width_of(letter + end) > width // 3:
            break
        end = letter + end
    return text_of(cut((Span(name),), width - width_of(end))) + end


def printable(text: str) -> str:
    """Return ``text`` on one line, with control characters replaced by spaces or escapes."""
    if text.isprintable():
        return text
    words = text.expandtabs(4).replace("\n", " ")
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in words)


def _cut(line: Line, left: int) -> Iterator[Span]:
    for span in line:
        for taken, letter in enumerate(span.text):
            columns = _columns(letter)
            if columns > left:
                yield Span(f"{span.text[:taken]}…", span.tone)
                return
            left -= columns
        yield span


def _columns(letter: str) -> int:
    if combining(letter) or category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(letter) in ("W", "F") else 1
