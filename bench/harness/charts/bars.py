"""Bars side by side: rows are contenders, panels are quantities, each with a scale of its own."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil

from bench.harness.charts import ink
from bench.harness.charts.pictures import Bars, Spread

ROW_HEIGHT = 25.0
BAR_HEIGHT = 14.0
TITLE_LINE = 16.0
LIMIT_LINE = 20.0
BETWEEN_PANELS = 22.0
BETWEEN_STRIPS = 18.0
NARROWEST_PANEL = 168.0
# Between a bar, or the end of its range, and the number.
BESIDE = 6.0


def draw_bars(picture: Bars) -> str:
    """The whole file."""
    names = list(dict.fromkeys(name for panel in picture.panels.values() for name in panel))
    labels_width = max((ink.width_of(name, bold=ink.is_ours(name)) for name in names), default=0.0)
    left = ink.MARGIN + labels_width + 10
    room = ink.WIDTH - ink.MARGIN - left
    at_most = max(1, int((room + BETWEEN_PANELS) // (NARROWEST_PANEL + BETWEEN_PANELS)))
    titles = list(picture.panels)
    in_a_strip = ceil(len(titles) / ceil(len(titles) / at_most))
    width = (room - BETWEEN_PANELS * (in_a_strip - 1)) / in_a_strip
    drawn: list[str] = []
    top = ink.TOP
    for first in range(0, len(titles), in_a_strip):
        strip = titles[first : first + in_a_strip]
        wrapped = [ink.wrapped(title, width) for title in strip]
        rows_top = top + TITLE_LINE * max(map(len, wrapped)) + 4
        drawn += _names(names, rows_top)
        for place, (title, lines) in enumerate(zip(strip, wrapped, strict=True)):
            panel = _Panel(
                left=left + place * (width + BETWEEN_PANELS),
                width=width,
                top=rows_top,
                spreads=picture.panels[title],
                limit=picture.limits.get(title),
                is_more_better=picture.is_more_better,
            )
            for number, words in enumerate(lines):
                above = len(lines) - number
                drawn.append(
                    ink.text(
                        words, panel.left, rows_top - 8 - TITLE_LINE * (above - 1), look="panel"
                    )
                )
            drawn += panel.drawn(names)
        has_limit = any(title in picture.limits for title in strip)
        top = rows_top + ROW_HEIGHT * len(names) + BETWEEN_STRIPS + (LIMIT_LINE if has_limit else 0)
    return ink.sheet(
        picture.title,
        f"{'Longer' if picture.is_more_better else 'Shorter'} is better. Numbers are medians;"
        " thin lines reach from the lowest round to the highest.",
        drawn,
        height=top + 6,
        described=_described(picture),
    )


def _names(names: Sequence[str], top: float) -> Iterator[str]:
    for row, name in enumerate(names):
        yield ink.text(
            name, ink.MARGIN, _baseline(top, row), look="ours" if ink.is_ours(name) else ""
        )


class _Panel:
    """One quantity: where it is on the sheet, and how long a bar is."""

    def __init__(
        self,
        *,
        left: float,
        width: float,
        top: float,
        spreads: Mapping[str, Spread],
        limit: float | None,
        is_more_better: bool,
    ) -> None:
        self.left = left
        self._width = width
        self._top = top
        self._spreads = spreads
        self._limit = limit
        self._is_more_better = is_more_better
        numbers = max(
            (ink.width_of(ink.number(each.middle)) for each in spreads.values()), default=0
        )
        longest = max([limit or 0.0, *(each.high for each in spreads.values())])
        self._scale = (width - numbers - BESIDE) / longest if longest > 0 else 0.0

    def drawn(self, names: Sequence[str]) -> Iterator[str]:
        """Everything but the names."""
        bottom = self._top + ROW_HEIGHT * len(names)
        yield ink.line(self.left, self._top - 2, self.left, bottom, look="axis")
        for row, name in enumerate(names):
            if name in self._spreads:
                yield self._bar(name, self._spreads[name], row)
            else:
                yield ink.text("–", self.left + BESIDE, _baseline(self._top, row), look="quiet")
        if self._limit is not None:
            yield from self._limit_line(self._limit, bottom)
        # Last of all, so that no line crosses a number.
        for row, name in enumerate(names):
            if name in self._spreads:
                yield self._value(name, self._spreads[name], row)

    def _bar(self, name: str, spread: Spread, row: int) -> str:
        middle = self._top + ROW_HEIGHT * (row + 0.5)
        low, high = self._x(spread.low), self._x(spread.high)
        parts = [
            ink.tooltip(_said(name, spread)),
            ink.tag(
                "rect",
                x=self.left,
                y=middle - BAR_HEIGHT / 2,
                width=max(self._x(spread.middle) - self.left, 1.0),
                height=BAR_HEIGHT,
                rx=2,
                class_=f"bar {ink.css_class(name)}",
            ),
        ]
        if high - low >= 1.5:
            parts += ink.whisker(low, high, middle)
        return ink.tag("g", *parts)

    def _value(self, name: str, spread: Spread, row: int) -> str:
        return ink.text(
            ink.number(spread.middle),
            max(self._x(spread.high), self._x(spread.middle)) + BESIDE,
            _baseline(self._top, row),
            look=f"number value{' ours' if ink.is_ours(name) else ''}",
        )

    def _limit_line(self, limit: float, bottom: float) -> Iterator[str]:
        x = self._x(limit)
        words = f"{'at least' if self._is_more_better else 'at most'} {ink.round_number(limit)}"
        half = ink.width_of(words, 11) / 2
        centre = min(max(x, self.left + half), self.left + self._width - half)
        yield ink.line(x, self._top - 2, x, bottom + 4, look="limit")
        yield ink.text(words, centre, bottom + 17, look="limit-text small", anchor="middle")

    def _x(self, value: float) -> float:
        return self.left + max(value, 0.0) * self._scale


def _baseline(top: float, row: int) -> float:
    return top + ROW_HEIGHT * (row + 0.5) + 4.5


def _said(name: str, spread: Spread) -> str:
    low, middle, high = map(ink.number, (spread.low, spread.middle, spread.high))
    return f"{name}: {middle}" + (f" ({low} to {high})" if low != high else "")


def _described(picture: Bars) -> Iterator[str]:
    for title, spreads in picture.panels.items():
        said = "; ".join(_said(name, spread) for name, spread in spreads.items())
        limit = picture.limits.get(title)
        bound = "at least" if picture.is_more_better else "at most"
        yield f"{title}: {said}." + (
            "" if limit is None else f" Ours: {bound} {ink.round_number(limit)}."
        )
