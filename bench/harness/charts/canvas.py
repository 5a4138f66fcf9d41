"""SVG elements, colors and number formats of all charts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from bench.harness.contenders import (
    ASYNCIO,
    CONTROLLER_RUNTIME,
    EMBEDDED,
    KOPF,
    KR8S,
    LIGHTKUBE,
    OFFICIAL,
    REAL,
    STEERSMAN,
    STEERSMAN_UVLOOP,
)

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
FONT_SIZE = 12.5

WIDTH = 860.0
MARGIN = 24.0
# The top of the chart, below its title and its legend line.
TOP = 74.0

# Wider than most letters, because the font of the viewer is unknown.
LETTER_WIDTH = 0.57
BOLD_LETTER_WIDTH = 0.64


@dataclass(frozen=True, slots=True, kw_only=True)
class Color:
    """The colors of a contender on light and dark pages, and the shape of its points."""

    light: str
    dark: str
    mark: str


# The colors also differ in lightness, and the marks in shape, for people who do not see the hue.
COLORS: Mapping[str, Color] = {
    STEERSMAN: Color(light="#0a5bd3", dark="#5aa5ff", mark="circle"),
    STEERSMAN_UVLOOP: Color(light="#4b94ee", dark="#2f74cf", mark="diamond"),
    EMBEDDED: Color(light="#0a5bd3", dark="#5aa5ff", mark="circle"),
    # The references, in Go.
    CONTROLLER_RUNTIME: Color(light="#d9730d", dark="#f0a050", mark="square"),
    REAL: Color(light="#d9730d", dark="#f0a050", mark="square"),
    KOPF: Color(light="#a8427f", dark="#df86bd", mark="triangle"),
    OFFICIAL: Color(light="#4b5563", dark="#c3cad5", mark="pole"),
    ASYNCIO: Color(light="#8a6d00", dark="#d8b62f", mark="flipped"),
    LIGHTKUBE: Color(light="#0d8060", dark="#3dbf94", mark="plus"),
    KR8S: Color(light="#8c3b2a", dark="#d98a76", mark="bar"),
}
OTHER = Color(light="#8b94a1", dark="#7d8794", mark="circle")

# Outlines within a square of 2 by 2.
SHAPES: Mapping[str, Sequence[tuple[float, float]]] = {
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "triangle": ((0, -1.2), (1.2, 0.9), (-1.2, 0.9)),
    "flipped": ((0, 1.2), (1.2, -0.9), (-1.2, -0.9)),
    "bar": ((-1.3, -0.5), (1.3, -0.5), (1.3, 0.5), (-1.3, 0.5)),
    "pole": ((-0.5, -1.3), (0.5, -1.3), (0.5, 1.3), (-0.5, 1.3)),
    "plus": (
        *((-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4)),
        *((0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)),
    ),
}

STYLE = """\
text {{ font-family: {font}; font-size: {size}px; fill: #1f2933; }}
.sheet {{ fill: #ffffff; stroke: #d8dee6; }}
.title {{ font-size: 17px; font-weight: 600; }}
.panel {{ font-weight: 600; }}
.ours {{ font-weight: 700; }}
.quiet {{ fill: #5f6b7a; }}
.number {{ font-variant-numeric: tabular-nums; }}
.small {{ font-size: 11px; }}
.axis {{ stroke: #9aa5b1; }}
.grid {{ stroke: #e6eaef; }}
.range {{ stroke: #1f2933; stroke-width: 1.2; }}
.around {{ stroke: #ffffff; stroke-width: 3.4; }}
.value {{ paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round; }}
.limit {{ stroke: #b42318; stroke-width: 1.4; stroke-dasharray: 4 3; }}
.limit-text {{ fill: #b42318; }}
path.line {{ fill: none; stroke-width: 1.8; stroke-linejoin: round; }}
path.line.strong {{ stroke-width: 3; }}
.reach {{ stroke-width: 1; opacity: 0.6; }}
.bar {{ stroke-width: 0; }}
{colors_light}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e4e8ee; }}
.sheet {{ fill: #12161c; stroke: #2c343f; }}
.quiet {{ fill: #9aa6b5; }}
.axis {{ stroke: #5b6673; }}
.grid {{ stroke: #242b35; }}
.range {{ stroke: #e4e8ee; }}
.around {{ stroke: #12161c; }}
.value {{ stroke: #12161c; }}
.limit {{ stroke: #ff8a7a; }}
.limit-text {{ fill: #ff8a7a; }}
{colors_dark}
}}"""


def family(contender: str) -> str | None:
    """The longest known name that is the contender, or of which it is a variant."""
    known = [
        name
        for name in COLORS
        if contender == name or contender.startswith((f"{name},", f"{name} "))
    ]
    return max(known, key=len, default=None)


def color(contender: str) -> Color:
    """The color of a contender or its family."""
    name = family(contender)
    return OTHER if name is None else COLORS[name]


def css_class(contender: str) -> str:
    """The CSS class of a contender's elements."""
    name = family(contender)
    return "other" if name is None else f"c{list(COLORS).index(name)}"


def is_ours(contender: str) -> bool:
    """Whether the contender is steersman."""
    return contender.startswith(STEERSMAN)


def number(value: float) -> str:
    """A measured value with about three digits."""
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 0.1:
        return f"{value:.2f}"
    return f"{value:#.2g}"


def round_number(value: float) -> str:
    """A limit or a tick, in short form."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def width_of(words: str, size: float = FONT_SIZE, *, bold: bool = False) -> float:
    """The approximate width of a text."""
    return len(words) * size * (BOLD_LETTER_WIDTH if bold else LETTER_WIDTH)


def wrapped(words: str, width: float) -> Sequence[str]:
    """Wrap a bold text to a width."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_of(longer, bold=True) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def mark(contender: str, x: float, y: float, size: float) -> str:
    """A point in the contender's shape."""
    look = f"mark {css_class(contender)}"
    shape = color(contender).mark
    if shape == "circle":
        return tag("circle", cx=x, cy=y, r=size, class_=look)
    outline = " ".join(f"{x + dx * size:.1f},{y + dy * size:.1f}" for dx, dy in SHAPES[shape])
    return tag("polygon", points=outline, class_=look)


def tag(name: str, *inside: str, **attributes: str | float) -> str:
    """One element; ``class_`` and ``text_anchor`` become ``class`` and ``text-anchor``."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_plain(value))}"
        for key, value in attributes.items()
        if value != ""
    )
    return f"<{name}{written}>{''.join(inside)}</{name}>" if inside else f"<{name}{written}/>"


def text(words: str, x: float, y: float, *, look: str = "", anchor: str = "") -> str:
    """An escaped text."""
    return tag("text", escape(words), x=x, y=y, class_=look, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, *, look: str) -> str:
    """A straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=look)


def whisker(low: float, high: float, y: float) -> Iterator[str]:
    """A line from the lowest to the highest round, visible on a bar and on the page."""
    yield line(low, y, high, y, look="around")
    yield line(low, y, high, y, look="range")
    for end in (low, high):
        yield line(end, y - 3, end, y + 3, look="range")


def tooltip(words: str) -> str:
    """A tooltip, which screen readers also read."""
    return tag("title", escape(words))


def sheet(
    title: str, hint: str, drawn: Iterable[str], *, height: float, description: Iterable[str]
) -> str:
    """The SVG file with all elements."""
    head = (
        tag("title", escape(title), id="title"),
        tag("desc", escape(" ".join(description)), id="desc"),
        tag("style", escape(_style())),
        tag("rect", x=0.5, y=0.5, width=WIDTH - 1, height=height - 1, rx=8, class_="sheet"),
        text(title, MARGIN, 34, look="title"),
        text(hint, MARGIN, 54, look="quiet small"),
    )
    return (
        tag(
            "svg",
            *(f"\n{each}" for each in (*head, *drawn)),
            "\n",
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {_plain(WIDTH)} {_plain(height)}",
            width=WIDTH,
            height=height,
            role="img",
            aria_labelledby="title desc",
        )
        + "\n"
    )


def _style() -> str:
    return STYLE.format(
        font=FONT,
        size=FONT_SIZE,
        colors_light="\n".join(_rules("light")),
        colors_dark="\n".join(_rules("dark")),
    )


def _rules(page: str) -> Iterator[str]:
    for name, each in {**COLORS, "": OTHER}.items():
        shade = each.light if page == "light" else each.dark
        selector = css_class(name)
        yield f".{selector} {{ fill: {shade}; stroke: {shade}; }}"


def _plain(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")
