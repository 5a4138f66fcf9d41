"""Lines through points: how something grows, for each contender."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from bench.harness.charts import ink
from bench.harness.charts.pictures import Lines, Spread
from bench.harness.charts.scales import Scale, apart, enclosing, even_ticks, logarithmic_ticks

HEIGHT = 430.0
PLOT_TOP = ink.TOP + 20
PLOT_BOTTOM = HEIGHT - 56
LEGEND_GAP = 20.0
SAMPLE_WIDTH = 30.0
POINT = 4.5
# How the second line of one colour differs from the first, and the third from both.
DASHES = ("", "6 4", "2 3", "9 3 2 3")

Series = Sequence[tuple[float, Spread]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plot:
    """Where everything is."""

    x: Scale
    y: Scale
    x_ticks: Sequence[float]
    y_ticks: Sequence[float]


def draw_lines(picture: Lines) -> str:
    """The whole file."""
    # What has no point has no line; and a logarithm has no place for nothing.
    series = {name: points for name, points in picture.series.items() if points}
    legend_width = (
        SAMPLE_WIDTH
        + 8
        + max(
            ink.width_of(f"{name}  {ink.number(points[-1][1].middle)}", bold=ink.is_ours(name))
            for name, points in series.items()
        )
    )
    plot = _laid_out(picture, series, right=ink.WIDTH - ink.MARGIN - legend_width - 16)
    dashes = _dashes(series)
    drawn = [*_axes(picture, plot)]
    # Ours last, and so above the others.
    in_order = sorted(series, key=ink.is_ours)
    drawn += [_line(name, series[name], plot, dashes[name]) for name in in_order]
    drawn += _legend(series, plot, dashes)
    return ink.sheet(
        picture.title,
        "Points are medians; thin lines reach from the lowest round to the highest."
        + (" Both axes are logarithmic." if picture.is_logarithmic else ""),
        drawn,
        height=HEIGHT,
        described=_described(picture),
    )


def _laid_out(picture: Lines, series: Mapping[str, Series], *, right: float) -> _Plot:
    xs = sorted({x for points in series.values() for x, _ in points})
    spreads = [spread for points in series.values() for _, spread in points]
    high = max(spread.high for spread in spreads)
    is_logarithmic = picture.is_logarithmic
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
    left = ink.MARGIN + max(ink.width_of(ink.round_number(tick), 11) for tick in y_ticks) + 8
    x = Scale(low=x_low, high=x_high, start=left + 12, end=right, is_logarithmic=is_logarithmic)
    y = Scale(
        low=y_low,
        high=y_high,
        start=PLOT_BOTTOM,
        end=PLOT_TOP,
        is_logarithmic=is_logarithmic,
    )
    return _Plot(x=x, y=y, x_ticks=_that_fit(xs, x), y_ticks=y_ticks)


def _that_fit(xs: Sequence[float], scale: Scale) -> Sequence[float]:
    """Of the values that were measured, those whose numbers do not run into each other."""
    kept: list[float] = []
    # From the largest down: that is the one that readers need first.
    for value in reversed(xs):
        half = ink.width_of(ink.round_number(value), 11) / 2
        if (
            not kept
            or scale(kept[-1]) - scale(value)
            > half + 8 + ink.width_of(ink.round_number(kept[-1]), 11) / 2
        ):
            kept.append(value)
    return kept[::-1]


def _axes(picture: Lines, plot: _Plot) -> Iterator[str]:
    left, right = plot.x.start - 12, plot.x.end
    for tick in plot.y_ticks:
        y = plot.y(tick)
        yield ink.line(left, y, right, y, look="grid")
        yield ink.text(
            ink.round_number(tick), left - 8, y + 4, look="quiet small number", anchor="end"
        )
    for tick in plot.x_ticks:
        x = plot.x(tick)
        yield ink.line(x, PLOT_BOTTOM, x, PLOT_BOTTOM + 5, look="axis")
        yield ink.text(
            ink.round_number(tick), x, PLOT_BOTTOM + 19, look="quiet small number", anchor="middle"
        )
    yield ink.line(left, PLOT_BOTTOM, right, PLOT_BOTTOM, look="axis")
    yield ink.text(picture.y_title, ink.MARGIN, ink.TOP + 4, look="panel")
    yield ink.text(
        picture.x_title, (left + right) / 2, PLOT_BOTTOM + 40, look="panel", anchor="middle"
    )


def _line(name: str, points: Series, plot: _Plot, dash: str) -> str:
    places = [(plot.x(x), plot.y(spread.middle)) for x, spread in points]
    path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    parts = [
        ink.tag(
            "path",
            d=path,
            class_=f"line {ink.css_class(name)}{' strong' if ink.is_ours(name) else ''}",
            stroke_dasharray=dash,
        )
    ]
    for (x, y), (value, spread) in zip(places, points, strict=True):
        low, high = plot.y(spread.low), plot.y(spread.high)
        point = [ink.tooltip(_said(name, value, spread))]
        if low - high >= 1.5:
            point.append(ink.line(x, low, x, high, look=f"reach {ink.css_class(name)}"))
        point.append(ink.mark(name, x, y, POINT))
        parts.append(ink.tag("g", *point))
    return ink.tag("g", *parts)


def _legend(series: Mapping[str, Series], plot: _Plot, dashes: Mapping[str, str]) -> Iterator[str]:
    """Each name as near to the end of its line as the others let it."""
    ends = sorted((plot.y(points[-1][1].middle), name) for name, points in series.items())
    heights = apart((end for end, _ in ends), gap=LEGEND_GAP, low=PLOT_TOP - 10, high=PLOT_BOTTOM)
    left = plot.x.end + 16
    for y, (_, name) in zip(heights, ends, strict=True):
        look = ink.css_class(name)
        yield ink.tag(
            "path",
            d=f"M{left:.1f} {y:.1f} H{left + SAMPLE_WIDTH:.1f}",
            class_=f"line {look}{' strong' if ink.is_ours(name) else ''}",
            stroke_dasharray=dashes[name],
        )
        yield ink.mark(name, left + SAMPLE_WIDTH / 2, y, POINT)
        value = ink.number(series[name][-1][1].middle)
        yield ink.tag(
            "text",
            ink.tag("tspan", escape(name), class_="ours" if ink.is_ours(name) else ""),
            ink.tag("tspan", escape(value), dx=7, class_="quiet number"),
            x=left + SAMPLE_WIDTH + 8,
            y=y + 4.5,
        )


def _dashes(series: Mapping[str, Series]) -> Mapping[str, str]:
    seen: dict[str, int] = {}
    dashes: dict[str, str] = {}
    for name in series:
        look = ink.css_class(name)
        dashes[name] = DASHES[seen.get(look, 0) % len(DASHES)]
        seen[look] = seen.get(look, 0) + 1
    return dashes


def _said(name: str, x: float, spread: Spread) -> str:
    low, middle, high = map(ink.number, (spread.low, spread.middle, spread.high))
    reach = f" ({low} to {high})" if low != high else ""
    return f"{name}, {ink.round_number(x)}: {middle}{reach}"


def _described(picture: Lines) -> Iterator[str]:
    yield f"{picture.y_title}, by {picture.x_title}."
    for name, points in picture.series.items():
        said = "; ".join(
            f"{ink.round_number(x)}: {ink.number(spread.middle)}" for x, spread in points
        )
        yield f"{name}: {said}."
