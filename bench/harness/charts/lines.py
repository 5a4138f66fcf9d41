"""Line charts: the growth of a quantity, one line for each contender."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from bench.harness.charts import canvas
from bench.harness.charts.chart_data import LineChart, Spread
from bench.harness.charts.scales import Scale, enclosing, even_ticks, logarithmic_ticks, spaced

HEIGHT = 430.0
PLOT_TOP = canvas.TOP + 20
PLOT_BOTTOM = HEIGHT - 56
LEGEND_GAP = 20.0
SAMPLE_WIDTH = 30.0
POINT = 4.5
# Dash patterns of the first, second and further lines of one color.
DASHES = ("", "6 4", "2 3", "9 3 2 3")

Series = Sequence[tuple[float, Spread]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plot:
    """The scales and ticks of both axes."""

    x: Scale
    y: Scale
    x_ticks: Sequence[float]
    y_ticks: Sequence[float]


def draw_lines(chart: LineChart) -> str:
    """The SVG file of a line chart."""
    # A series without points has no line.
    series = {name: points for name, points in chart.series.items() if points}
    legend_width = (
        SAMPLE_WIDTH
        + 8
        + max(
            canvas.width_of(
                f"{name}  {canvas.number(points[-1][1].middle)}", bold=canvas.is_ours(name)
            )
            for name, points in series.items()
        )
    )
    plot = _layout(chart, series, right=canvas.WIDTH - canvas.MARGIN - legend_width - 16)
    dashes = _dashes(series)
    drawn = [*_axes(chart, plot)]
    # steersman is drawn last, above the others.
    in_order = sorted(series, key=canvas.is_ours)
    drawn += [_line(name, series[name], plot, dashes[name]) for name in in_order]
    drawn += _legend(series, plot, dashes)
    return canvas.sheet(
        chart.title,
        "Points are medians; thin lines show the range of the rounds."
        + (" Both axes are logarithmic." if chart.is_logarithmic else ""),
        drawn,
        height=HEIGHT,
        description=_description(chart),
    )


def _layout(chart: LineChart, series: Mapping[str, Series], *, right: float) -> _Plot:
    xs = sorted({x for points in series.values() for x, _ in points})
    spreads = [spread for points in series.values() for _, spread in points]
    high = max(spread.high for spread in spreads)
    is_logarithmic = chart.is_logarithmic
    if is_logarithmic:
        lows = [low for spread in spreads for low in (spread.low, spread.middle) if low > 0]
        low = min(lows, default=1.0)
        y_low, y_high = enclosing(low, max(high, low))
        y_ticks = logarithmic_ticks(y_low, y_high)
        x_low, x_high = xs[0], xs[-1] if len(xs) > 1 else xs[0] * 10
    else:
        y_ticks = even_ticks(high, about=5)
        y_low, y_high = y_ticks[0], y_ticks[-1]
        x_low, x_high = 0.0, xs[-1] or 1.0
    left = (
        canvas.MARGIN + max(canvas.width_of(canvas.round_number(tick), 11) for tick in y_ticks) + 8
    )
    x = Scale(low=x_low, high=x_high, start=left + 12, end=right, is_logarithmic=is_logarithmic)
    y = Scale(
        low=y_low,
        high=y_high,
        start=PLOT_BOTTOM,
        end=PLOT_TOP,
        is_logarithmic=is_logarithmic,
    )
    return _Plot(x=x, y=y, x_ticks=_readable_ticks(xs, x), y_ticks=y_ticks)


def _readable_ticks(xs: Sequence[float], scale: Scale) -> Sequence[float]:
    """The measured values whose labels do not overlap."""
    kept: list[float] = []
    # The largest value always has a label.
    for value in reversed(xs):
        half = canvas.width_of(canvas.round_number(value), 11) / 2
        if (
            not kept
            or scale(kept[-1]) - scale(value)
            > half + 8 + canvas.width_of(canvas.round_number(kept[-1]), 11) / 2
        ):
            kept.append(value)
    return kept[::-1]


def _axes(chart: LineChart, plot: _Plot) -> Iterator[str]:
    left, right = plot.x.start - 12, plot.x.end
    for tick in plot.y_ticks:
        y = plot.y(tick)
        yield canvas.line(left, y, right, y, look="grid")
        yield canvas.text(
            canvas.round_number(tick), left - 8, y + 4, look="quiet small number", anchor="end"
        )
    for tick in plot.x_ticks:
        x = plot.x(tick)
        yield canvas.line(x, PLOT_BOTTOM, x, PLOT_BOTTOM + 5, look="axis")
        yield canvas.text(
            canvas.round_number(tick),
            x,
            PLOT_BOTTOM + 19,
            look="quiet small number",
            anchor="middle",
        )
    yield canvas.line(left, PLOT_BOTTOM, right, PLOT_BOTTOM, look="axis")
    yield canvas.text(chart.y_title, canvas.MARGIN, canvas.TOP + 4, look="panel")
    yield canvas.text(
        chart.x_title, (left + right) / 2, PLOT_BOTTOM + 40, look="panel", anchor="middle"
    )


def _line(name: str, points: Series, plot: _Plot, dash: str) -> str:
    places = [(plot.x(x), plot.y(spread.middle)) for x, spread in points]
    path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    parts = [
        canvas.tag(
            "path",
            d=path,
            class_=f"line {canvas.css_class(name)}{' strong' if canvas.is_ours(name) else ''}",
            stroke_dasharray=dash,
        )
    ]
    for (x, y), (value, spread) in zip(places, points, strict=True):
        low, high = plot.y(spread.low), plot.y(spread.high)
        point = [canvas.tooltip(_label(name, value, spread))]
        if low - high >= 1.5:
            point.append(canvas.line(x, low, x, high, look=f"reach {canvas.css_class(name)}"))
        point.append(canvas.mark(name, x, y, POINT))
        parts.append(canvas.tag("g", *point))
    return canvas.tag("g", *parts)


def _legend(series: Mapping[str, Series], plot: _Plot, dashes: Mapping[str, str]) -> Iterator[str]:
    """The names of the contenders, close to the ends of their lines, without overlaps."""
    ends = sorted((plot.y(points[-1][1].middle), name) for name, points in series.items())
    heights = spaced((end for end, _ in ends), gap=LEGEND_GAP, low=PLOT_TOP - 10, high=PLOT_BOTTOM)
    left = plot.x.end + 16
    for y, (_, name) in zip(heights, ends, strict=True):
        look = canvas.css_class(name)
        yield canvas.tag(
            "path",
            d=f"M{left:.1f} {y:.1f} H{left + SAMPLE_WIDTH:.1f}",
            class_=f"line {look}{' strong' if canvas.is_ours(name) else ''}",
            stroke_dasharray=dashes[name],
        )
        yield canvas.mark(name, left + SAMPLE_WIDTH / 2, y, POINT)
        value = canvas.number(series[name][-1][1].middle)
        yield canvas.tag(
            "text",
            canvas.tag("tspan", escape(name), class_="ours" if canvas.is_ours(name) else ""),
            canvas.tag("tspan", escape(value), dx=7, class_="quiet number"),
            x=left + SAMPLE_WIDTH + 8,
            y=y + 4.5,
        )


def _dashes(series: Mapping[str, Series]) -> Mapping[str, str]:
    seen: dict[str, int] = {}
    dashes: dict[str, str] = {}
    for name in series:
        look = canvas.css_class(name)
        dashes[name] = DASHES[seen.get(look, 0) % len(DASHES)]
        seen[look] = seen.get(look, 0) + 1
    return dashes


def _label(name: str, x: float, spread: Spread) -> str:
    low, middle, high = map(canvas.number, (spread.low, spread.middle, spread.high))
    reach = f" ({low} to {high})" if low != high else ""
    return f"{name}, {canvas.round_number(x)}: {middle}{reach}"


def _description(chart: LineChart) -> Iterator[str]:
    yield f"{chart.y_title}, by {chart.x_title}."
    for name, points in chart.series.items():
        said = "; ".join(
            f"{canvas.round_number(x)}: {canvas.number(spread.middle)}" for x, spread in points
        )
        yield f"{name}: {said}."
