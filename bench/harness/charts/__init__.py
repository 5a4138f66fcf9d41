"""Charts as SVG text, for light and dark pages. No I/O."""

from bench.harness.charts.bars import draw_bars
from bench.harness.charts.chart_data import BarChart, Chart, LineChart, Spread, panels, spreads
from bench.harness.charts.lines import draw_lines

__all__ = ["BarChart", "Chart", "LineChart", "Spread", "panels", "spreads", "svg"]


def svg(chart: Chart) -> str:
    """The SVG file of a chart."""
    match chart:
        case BarChart():
            return draw_bars(chart)
        case LineChart():
            return draw_lines(chart)
