"""steersman binds claims and volumes as kube-controller-manager does."""

from collections.abc import Iterator

import pytest

from tests.real.controller_comparison import (
    ControllerComparison,
    Ends,
    Scenario,
    ScenarioGroup,
    difference,
)
from tests.real.volume_scenarios import KINDS, SCENARIOS, is_caught_up, seen

pytestmark = pytest.mark.timeout(180)

COMPARISON = ControllerComparison(
    parts=("volumes",),
    theirs=(
        "persistentvolume-binder-controller",
        "persistentvolume-protection-controller",
        "persistentvolumeclaim-protection-controller",
    ),
    groups=(ScenarioGroup(scenarios=SCENARIOS, kinds=KINDS, is_caught_up=is_caught_up, seen=seen),),
)


@pytest.fixture(scope="module")
def ends() -> Iterator[tuple[Ends, Ends]]:
    """The resulting state after each scenario: with Kubernetes' own controllers, and with ours."""
    yield from COMPARISON.ends()


@COMPARISON.each_scenario
def test_the_volume_controller_writes_the_same_steps_on_a_real_server(
    scenario: Scenario, ends: tuple[Ends, Ends]
) -> None:
    theirs, ours = (each[scenario.__name__] for each in ends)

    assert ours == theirs, difference(theirs, ours)


@COMPARISON.each_scenario
def test_the_volume_controller_writes_the_same_steps_in_virtual_time(
    scenario: Scenario, ends: tuple[Ends, Ends]
) -> None:
    theirs, ours = ends[0][scenario.__name__], COMPARISON.in_virtual_time(scenario)

    assert ours == theirs, difference(theirs, ours)
