"""Charts are complete SVG files, and no element is beyond the edge."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from bench.harness.charts import BarChart, Chart, LineChart, Spread, panels, svg
from bench.harness.charts import spreads as spreads_of
from bench.harness.charts.canvas import COLORS, WIDTH, color, number
from bench.harness.charts.scales import Scale, enclosing, even_ticks, logarithmic_ticks, spaced
from bench.harness.contenders import EMBEDDED, REAL
from bench.harness.report import Section

NAMES = (
    "controller-runtime",
    "controller-runtime, listing, no managedFields",
    "kopf",
    "steersman",
    "steersman, uvloop",
    "another <one> & co",
)


def spread(middle: float, reach: float = 0.1) -> Spread:
    return Spread(low=middle * (1 - reach), middle=middle, high=middle * (1 + reach))


def spreads(first: float) -> Mapping[str, Spread]:
    return {name: spread(first * 1.7**place) for place, name in enumerate(NAMES)}


BARS = BarChart(
    name="sync",
    title="Sync 20,000 AppServices & more",
    panels={
        "wall, s": spreads(0.031),
        "CPU, s": spreads(2.3),
        "resident memory, MB": spreads(61.0),
        "a quantity with a title that is much longer than its panel is wide": spreads(4_100.0),
    },
    limits={"wall, s": 0.25, "CPU, s": 500.0},
)
LINES = LineChart(
    name="growth",
    title="Cold sync as the number of objects doubles",
    x_title="objects",
    y_title="wall, s",
    series={
        name: [(size, spread(size * cost)) for size in (5_000.0, 10_000.0, 20_000.0, 40_000.0)]
        for name, cost in zip(NAMES, (0.1, 0.11, 0.7, 0.02, 0.02, 0.021), strict=True)
    },
)
LOGARITHMIC = LineChart(
    name="log",
    title=LINES.title,
    x_title=LINES.x_title,
    y_title=LINES.y_title,
    series=LINES.series,
    is_logarithmic=True,
)
CHARTS = pytest.mark.parametrize("chart", [BARS, LINES, LOGARITHMIC], ids=["bars", "lines", "log"])


def parsed(chart: Chart) -> ElementTree.Element:
    return ElementTree.fromstring(svg(chart))  # noqa: S314 - the test has created it


def tagged(root: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    return root.iter(f"{{http://www.w3.org/2000/svg}}{name}")


def texts_in(chart: Chart) -> list[str]:
    return ["".join(each.itertext()) for each in tagged(parsed(chart), "text")]


@CHARTS
def test_a_chart_has_a_text_alternative(chart: Chart) -> None:
    root = parsed(chart)

    titles = [each.text for each in tagged(root, "title") if each.get("id") == "title"]
    [description] = tagged(root, "desc")

    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "title desc"
    assert titles == [chart.title]
    assert all(name in (description.text or "") for name in NAMES)


@CHARTS
def test_a_chart_has_colors_for_light_and_dark_pages(chart: Chart) -> None:
    light, _, dark = svg(chart).partition("@media (prefers-color-scheme: dark)")

    assert all(each.light in light and each.dark in dark for each in COLORS.values())
    assert dark


def test_every_bar_has_its_number_beside_it() -> None:
    words = texts_in(BARS)

    for panel in BARS.panels.values():
        for each in panel.values():
            assert number(each.middle) in words


def test_the_length_of_a_bar_is_proportional_to_its_value() -> None:
    chart = BarChart(
        name="two", title="Two", panels={"s": {"kopf": spread(4.0), "kr8s": spread(1.0)}}, limits={}
    )

    bars = [each for each in tagged(parsed(chart), "rect") if "bar" in each.get("class", "")]

    longer, shorter = (float(bar.get("width", "0")) for bar in bars)
    assert longer == pytest.approx(4 * shorter, rel=0.01)


def test_a_missing_figure_is_a_dash() -> None:
    chart = BarChart(
        name="gap",
        title="Gap",
        panels={"one": {"kopf": spread(1.0), "kr8s": spread(1.0)}, "two": {"kr8s": spread(2.0)}},
        limits={},
    )

    assert "–" in texts_in(chart)


def test_a_limit_is_drawn_as_a_labeled_line() -> None:
    rising = BarChart(
        name="rate", title="Rate", panels={"a second": spreads(900)}, limits={"a second": 1000}
    )
    more = replace(rising, is_more_better=True)

    assert "at most 1,000" in texts_in(rising)
    assert "at least 1,000" in texts_in(more)


@pytest.mark.parametrize("chart", [LINES, LOGARITHMIC], ids=["lines", "log"])
def test_every_point_of_a_line_has_a_tooltip(chart: LineChart) -> None:
    shown = {each.text for each in tagged(parsed(chart), "title")}

    for name, points in chart.series.items():
        for x, each in points:
            low, middle, high = map(number, (each.low, each.middle, each.high))
            assert f"{name}, {x:,.0f}: {middle} ({low} to {high})" in shown


@CHARTS
def test_no_element_is_drawn_beyond_the_edge(chart: Chart) -> None:
    root = parsed(chart)
    height = float(root.get("height", "0"))

    for each in root.iter():
        for across in (each.get(key) for key in ("x", "x1", "x2", "cx")):
            assert across is None or 0 <= float(across) <= WIDTH
        for down in (each.get(key) for key in ("y", "y1", "y2", "cy")):
            assert down is None or 0 <= float(down) <= height


@CHARTS
def test_labels_of_a_column_do_not_overlap(chart: Chart) -> None:
    places: dict[float, list[float]] = {}
    for each in tagged(parsed(chart), "text"):
        places.setdefault(float(each.get("x", "0")), []).append(float(each.get("y", "0")))

    for column in places.values():
        assert all(after - before >= 11 for before, after in pairwise(sorted(column)))


def test_a_chart_of_zeros_can_be_drawn() -> None:
    nothing = Spread(low=0.0, middle=0.0, high=0.0)

    bars = BarChart(name="idle", title="Idle", panels={"requests": {"kopf": nothing}}, limits={})
    lines = LineChart(
        name="idle", title="Idle", x_title="n", y_title="s", series={"kopf": [(1.0, nothing)]}
    )

    assert parsed(bars) is not None
    assert parsed(lines) is not None


def test_variants_of_a_contender_share_its_color() -> None:
    assert color("steersman, with log and metrics") == COLORS["steersman"]
    assert color("steersman, uvloop") == COLORS["steersman, uvloop"]
    assert color("steersman, uvloop p99") == COLORS["steersman, uvloop"]
    assert color("kubernetes_asyncio, dictionaries") == COLORS["kubernetes_asyncio"]
    assert color("bare aiohttp") not in COLORS.values()


def test_contenders_in_one_chart_have_different_colors() -> None:
    contenders = [name for name in COLORS if name not in {EMBEDDED, REAL}]

    assert len({COLORS[name].light for name in contenders}) == len(contenders)
    assert len({COLORS[name].dark for name in contenders}) == len(contenders)
    assert len({COLORS[name].mark for name in contenders}) == len(contenders)


def luminance(shade: str) -> float:
    parts = (int(shade[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", COLORS)
def test_a_color_has_enough_contrast_on_both_pages(name: str) -> None:
    on_light = 1.05 / (luminance(COLORS[name].light) + 0.05)
    on_dark = (luminance(COLORS[name].dark) + 0.05) / (luminance("#12161c") + 0.05)

    # WCAG requires a contrast of 3 for graphical objects.
    assert on_light >= 3.0
    assert on_dark >= 3.0


def test_ticks_are_round_numbers_and_cover_the_values() -> None:
    assert even_ticks(42.0, about=5) == pytest.approx([0, 10, 20, 30, 40, 50])
    assert even_ticks(0.7, about=5) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8])
    assert enclosing(0.38, 14.4) == (0.2, 20.0)
    assert logarithmic_ticks(0.2, 20.0) == [0.2, 0.5, 1, 2, 5, 10, 20]
    assert logarithmic_ticks(1.0, 10_000.0) == [1, 10, 100, 1_000, 10_000]


def test_a_logarithmic_scale_spaces_doublings_equally() -> None:
    scale = Scale(low=1.0, high=16.0, start=0.0, end=100.0, is_logarithmic=True)

    assert [scale(value) for value in (1, 2, 4, 8, 16)] == pytest.approx([0, 25, 50, 75, 100])


def test_overlapping_labels_are_moved_apart_within_the_chart() -> None:
    places = spaced([10, 11, 12, 98], gap=20, low=0, high=100)

    assert all(after - before >= 20 for before, after in pairwise(places))
    assert max(places) <= 100


def test_a_number_is_short_and_has_no_exponent() -> None:
    shown = [number(value) for value in (0, 0.0216, 0.5, 3.456, 58.43, 143.6, 12_345.6)]

    assert shown == ["0", "0.022", "0.50", "3.46", "58.4", "144", "12,346"]
    assert not any(re.search("e", each) for each in shown)


def test_spreads_include_only_contenders_with_the_figure() -> None:
    costs = {"kopf": [{"wall": 1.0}, {"wall": 3.0}, {}], "kr8s": [{"cpu": 1.0}], "missing": []}

    assert spreads_of(costs, "wall", 1e3) == {"kopf": Spread(low=1e3, middle=2e3, high=3e3)}


def test_a_chart_without_data_is_empty() -> None:
    assert replace(BARS, panels={"wall, s": {}}).is_empty
    assert replace(LINES, series={}).is_empty
    assert not BARS.is_empty
    assert not LINES.is_empty


def test_a_panel_without_data_is_omitted() -> None:
    section = Section(name="sync", title="Sync", columns=(), costs={"steersman": [{"wall": 2.0}]})
    shown = {
        "wall, ms": ("sync", "wall", 1e3),
        "CPU, ms": ("sync", "cpu", 1e3),
        "rate": ("reconcile", "rate", 1.0),
    }

    drawn = panels({section.name: section}, shown)

    assert drawn == {"wall, ms": {"steersman": Spread(low=2e3, middle=2e3, high=2e3)}}
