"""A pytest plugin that measures lines and branches, for each test separately.

It starts when pytest imports it, before any module of steersman: pass it with ``-p``.
"""

from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).parents[3]
DATA = ROOT / ".coverage-map"

_measurement = coverage.Coverage(
    data_file=str(DATA / "coverage"),
    data_suffix=True,
    config_file=False,
    branch=True,
    source=[str(each) for each in sorted(ROOT.glob("packages/*/src"))],
)
DATA.mkdir(exist_ok=True)
_measurement.start()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _measurement.switch_context(item.nodeid)
    result = yield
    _measurement.switch_context("")
    return result


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_set_timer() -> bool:
    # A limit would interrupt coverage while it holds a lock. Tests take longer with it, too.
    return True


def pytest_unconfigure() -> None:
    _measurement.stop()
    _measurement.save()
