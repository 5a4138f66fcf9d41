"""The corpus, and its groups as parameters of tests."""

from functools import cache

import pytest

from tests.recorded.differential.comparison import Compare, embedded_comparison, real_comparison
from tests.recorded.differential.corpus import corpus
from tests.recorded.differential.scenario import Scenario
from tests.recorded.differential.transcripts import area_of, group_of, recorded_groups
from tests.recorded.module_recording import Mode

# Five runs of an area on a busy machine.
LIVE_SECONDS = 1200

_corpus = cache(corpus)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "group" not in metafunc.fixturenames:
        return
    mode = Mode(metafunc.config.getoption("--real-responses"))
    groups = recorded_groups()
    if mode is Mode.RECORD:
        # A new group has no file yet. The corpus takes a second, so it is not built otherwise.
        groups = sorted({group_of(each.name) for each in _corpus()})
    assert metafunc.module is not None
    area = metafunc.module.AREA
    # The first group of a module waits for the responses to all of them.
    marks = () if mode is Mode.REPLAY else (pytest.mark.timeout(LIVE_SECONDS),)
    metafunc.parametrize(
        "group", [pytest.param(each, marks=marks) for each in groups if area_of(each) == area]
    )


@pytest.fixture(scope="session")
def all_scenarios() -> list[Scenario]:
    """The whole corpus."""
    return _corpus()


@pytest.fixture(scope="module")
def compare(request: pytest.FixtureRequest, mode: Mode, all_scenarios: list[Scenario]) -> Compare:
    """Compares or records a group, as ``--real-responses`` selects."""
    if mode is Mode.REPLAY:
        return embedded_comparison(all_scenarios)
    groups = [
        str(item.callspec.params["group"])
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and item.path == request.path
        and "group" in item.fixturenames
    ]
    return real_comparison(groups, all_scenarios, mode=mode)
