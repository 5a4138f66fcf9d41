"""Tests that every metric in the page about metrics exists."""

import re
from pathlib import Path

from prometheus_client import generate_latest

from steersman.clock import SystemClock
from steersman.observe import MetricsObserver, new_registry

PAGE = Path(__file__).parents[2] / "how-to-metrics.md"


def test_every_metric_on_the_page_is_served() -> None:
    registry = new_registry()
    MetricsObserver(registry, clock=SystemClock())
    served = set(re.findall(r"^# TYPE (\w+) ", generate_latest(registry).decode(), re.MULTILINE))

    named = set(re.findall(r"^\| `(\w+)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE))

    assert len(named) > 10
    assert named <= served
