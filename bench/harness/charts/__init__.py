"""Charts as SVG text, drawn from figures alone; readable on a light page and on a dark one."""

from bench.harness.charts.bars import draw_bars
from bench.harness.charts.lines import draw_lines
from bench.harness.charts.pictures import Bars, Lines, Picture, Spread, panels, spreads

__all__ = ["Bars", "Lines", "Picture", "Spread", "panels", "spreads", "svg"]


def svg(picture: Picture) -> str:
    """The whole file."""
    match picture:
        case Bars():
            return draw_bars(picture)
        case Lines():
            return draw_lines(picture)
