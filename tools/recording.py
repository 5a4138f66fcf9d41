"""Terminal screens as an animated picture: an SVG without external resources.

Every word has its own column, so that lines are aligned whatever the reader's fonts; the colors
follow the light or dark mode of the machine.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

# The size of a letter, in the picture's units.
COLUMN, LINE, SIZE = 8.0, 18, 13
MARGIN = 14

# Terminal codes for weights and colors, and their CSS classes. Each has its own end code, and zero
# ends both.
WEIGHTS = {0: "", 1: "strong", 2: "quiet", 22: ""}
COLORS = {0: "", 31: "bad", 32: "good", 33: "waiting", 39: ""}

STYLE = """
svg{--paper:#f6f8fa;--ink:#1f2328;--quiet:#636c76;--good:#1a7f37;--waiting:#9a6700;--bad:#cf222e}
@media(prefers-color-scheme:dark){
svg{--paper:#0d1117;--ink:#e6edf3;--quiet:#9198a1;--good:#3fb950;--waiting:#d29922;--bad:#f85149}}
rect{fill:var(--paper);stroke:var(--quiet);stroke-opacity:.4}
text{fill:var(--ink);white-space:pre;font-size:13px;
font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}
.strong{font-weight:700}.quiet{fill:var(--quiet)}.good{fill:var(--good)}
.waiting{fill:var(--waiting)}.bad{fill:var(--bad)}
g{visibility:hidden}
"""


@dataclass(frozen=True, slots=True)
class Frame:
    """A screen with its color codes, and its duration."""

    screen: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Word:
    """Letters of one tone, and the column where they begin."""

    column: int
    text: str
    tone: str


def picture(frames: Sequence[Frame], *, columns: int, lines: int, still: int, title: str) -> str:
    """All frames in a loop; readers who disable motion see the frame named ``still``."""
    width, height = columns * COLUMN + 2 * MARGIN, lines * LINE + 2 * MARGIN
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" role="img"'
            f' aria-label="{escape(title)}">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}{_timing(frames, still)}</style>",
            f'<rect x=".5" y=".5" width="{width - 1:g}" height="{height - 1}" rx="8"/>',
            *(_drawn(number, frame.screen) for number, frame in enumerate(frames)),
            "</svg>\n",
        )
    )


def plain(screen: str) -> str:
    """The screen without color codes."""
    return re.sub(r"\x1b\[[\d;]*m", "", screen)


def words_on(screen: str) -> Iterator[list[Word]]:
    """The words of each line, with column and tone; a tone lasts until its end code."""
    weight = color = ""
    for line in screen.splitlines():
        words: list[Word] = []
        column = 0
        for part in re.split(r"(\x1b\[[\d;]*m)", line):
            if code := re.fullmatch(r"\x1b\[([\d;]*)m", part):
                for number in map(int, (code[1] or "0").split(";")):
                    weight = WEIGHTS.get(number, weight)
                    color = COLORS.get(number, color)
                continue
            # Two spaces separate columns; one separates words.
            words += [
                Word(column + found.start(), found[0], color or weight)
                for found in re.finditer(r"\S+(?: \S+)*", part)
            ]
            column += len(part)
        yield words


def _drawn(number: int, screen: str) -> str:
    lines = (
        f'<text y="{MARGIN + row * LINE + SIZE}">{"".join(map(_span, words))}</text>'
        for row, words in enumerate(words_on(screen))
        if words
    )
    return f'<g id="f{number}">{"".join(lines)}</g>'


def _span(word: Word) -> str:
    tone = f' class="{word.tone}"' if word.tone else ""
    return f'<tspan x="{MARGIN + word.column * COLUMN:g}"{tone}>{escape(word.text)}</tspan>'


def _timing(frames: Sequence[Frame], still: int) -> str:
    whole = sum(frame.seconds for frame in frames)
    rules = [f"#f{still}{{visibility:visible}}\n@media(prefers-reduced-motion:no-preference){{\n"]
    for number, (begins, ends) in enumerate(_spans(frames)):
        first, last = (
            f"{100 * each / whole:.2f}".rstrip("0").rstrip(".") for each in (begins, ends)
        )
        before = f"0%{{visibility:hidden}}{first}%{{visibility:visible}}"
        after = "" if last == "100" else f"{last}%{{visibility:hidden}}"
        rules.append(
            f"@keyframes k{number}{{{before if number else '0%{visibility:visible}'}{after}}}\n"
            f"#f{number}{{visibility:hidden;animation:k{number} {whole:g}s step-end infinite}}\n"
        )
    return "".join((*rules, "}"))


def _spans(frames: Iterable[Frame]) -> Iterator[tuple[float, float]]:
    begins = 0.0
    for frame in frames:
        yield begins, begins + frame.seconds
        begins += frame.seconds
