"""Bar charts: each row is a contender, each panel a quantity with its own scale."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil

from bench.harness.charts import canvas
from bench.harness.charts.chart_data import BarChart, Spread

ROW_HEIGHT = 25.0
BAR_HEIGHT = 14.0
TITLE_LINE = 16.0
LIMIT_LINE = 20.0
BETWEEN_PANELS = 22.0
BETWEEN_STRIPS = 18.0
NARROWEST_PANEL = 168.0
# Between a bar, or the end of its range, and the number.
BESIDE = 6.0


def draw_bars(chart: BarChart) -> str:
    """The SVG file of a bar chart."""
    names = list(dict.fromkeys(name for panel in chart.panels.values() for name in panel))
    labels_width = max(
        (canvas.width_of(name, bold=canvas.is_ours(name)) for name in names), default=0.0
    )
    left = canvas.MARGIN + labels_width + 10
    room = canvas.WIDTH - canvas.MARGIN - left
    at_most = max(1, int((room + BETWEEN_PANELS) // (NARROWEST_PANEL + BETWEEN_PANELS)))
    titles = list(chart.panels)
    in_a_strip = ceil(len(titles) / ceil(len(titles) / at_most))
    width = (room - BETWEEN_PANELS * (in_a_strip - 1)) / in_a_strip
    drawn: list[str] = []
    top = canvas.TOP
    for first in range(0, len(titles), in_a_strip):
        strip = titles[first : first + in_a_strip]
        wrapped = [canvas.wrapped(title, width) for title in strip]
        rows_top = top + TITLE_LINE * max(map(len, wrapped)) + 4
        drawn += _names(names, rows_top)
        for place, (title, lines) in enumerate(zip(strip, wrapped, strict=True)):
            panel = _Panel(
                left=left + place * (width + BETWEEN_PANELS),
                width=width,
                top=rows_top,
                spreads=chart.panels[title],
                limit=chart.limits.get(title),
                is_more_better=chart.is_more_better,
            )
            for number, words in enumerate(lines):
                above = len(lines) - number
                drawn.append(
                    canvas.text(
                        words, panel.left, rows_top - 8 - TITLE_LINE * (above - 1), look="panel"
                    )
                )
            drawn += panel.drawn(names)
        has_limit = any(title in chart.limits for title in strip)
        top = rows_top + ROW_HEIGHT * len(names) + BETWEEN_STRIPS + (LIMIT_LINE if has_limit else 0)
    return canvas.sheet(
        chart.title,
        f"{'Longer' if chart.is_more_better else 'Shorter'} is better. Numbers are medians;"
        " thin lines show the range of the rounds.",
        drawn,
        height=top + 6,
        description=_description(chart),
    )


def _names(names: Sequence[str], top: float) -> Iterator[str]:
    for row, name in enumerate(names):
        yield canvas.text(
            name, canvas.MARGIN, _baseline(top, row), look="ours" if canvas.is_ours(name) else ""
        )


class _Panel:
    """The panel of one quantity: its position and its scale."""

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
            (canvas.width_of(canvas.number(each.middle)) for each in spreads.values()), default=0
        )
        longest = max([limit or 0.0, *(each.high for each in spreads.values())])
        self._scale = (width - numbers - BESIDE) / longest if longest > 0 else 0.0

    def drawn(self, names: Sequence[str]) -> Iterator[str]:
        """The elements of the panel, without the names of the contenders."""
        bottom = self._top + ROW_HEIGHT * len(names)
        yield canvas.line(self.left, self._top - 2, self.left, bottom, look="axis")
        for row, name in enumerate(names):
            if name in self._spreads:
                yield self._bar(name, self._spreads[name], row)
            else:
                yield canvas.text("–", self.left + BESIDE, _baseline(self._top, row), look="quiet")
        if self._limit is not None:
            yield from self._limit_line(self._limit, bottom)
        # At the end, so that no line crosses a number.
        for row, name in enumerate(names):
            if name in self._spreads:
                yield self._value(name, self._spreads[name], row)

    def _bar(self, name: str, spread: Spread, row: int) -> str:
        middle = self._top + ROW_HEIGHT * (row + 0.5)
        low, high = self._x(spread.low), self._x(spread.high)
        parts = [
            canvas.tooltip(_label(name, spread)),
            canvas.tag(
                "rect",
                x=self.left,
                y=middle - BAR_HEIGHT / 2,
                width=max(self._x(spread.middle) - self.left, 1.0),
                height=BAR_HEIGHT,
                rx=2,
                class_=f"bar {canvas.css_class(name)}",
            ),
        ]
        if high - low >= 1.5:
            parts += canvas.whisker(low, high, middle)
        return canvas.tag("g", *parts)

    def _value(self, name: str, spread: Spread, row: int) -> str:
        return canvas.text(
            canvas.number(spread.middle),
            max(self._x(spread.high), self._x(spread.middle)) + BESIDE,
            _baseline(self._top, row),
            look=f"number value{' ours' if canvas.is_ours(name) else ''}",
        )

    def _limit_line(self, limit: float, bottom: float) -> Iterator[str]:
        x = self._x(limit)
        words = f"{'at least' if self._is_more_better else 'at most'} {canvas.round_number(limit)}"
        half = canvas.width_of(words, 11) / 2
        center = min(max(x, self.left + half), self.left + self._width - half)
        yield canvas.line(x, self._top - 2, x, bottom + 4, look="limit")
        yield canvas.text(words, center, bottom + 17, look="limit-text small", anchor="middle")

    def _x(self, value: float) -> float:
        return self.left + max(value, 0.0) * self._scale


def _baseline(top: float, row: int) -> float:
    return top + ROW_HEIGHT * (row + 0.5) + 4.5


def _label(name: str, spread: Spread) -> str:
    low, middle, high = map(canvas.number, (spread.low, spread.middle, spread.high))
    return f"{name}: {middle}" + (f" ({low} to {high})" if low != high else "")


def _description(chart: BarChart) -> Iterator[str]:
    for title, spreads in chart.panels.items():
        said = "; ".join(_label(name, spread) for name, spread in spreads.items())
        limit = chart.limits.get(title)
        bound = "at least" if chart.is_more_better else "at most"
        yield f"{title}: {said}." + (
            "" if limit is None else f" Limit for steersman: {bound} {canvas.round_number(limit)}."
        )
