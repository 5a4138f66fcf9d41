"""steersman's Deployments and ReplicaSets take the steps of kube-controller-manager's."""

from collections.abc import Iterator

import pytest

from tests.real.controller_comparison import (
    ControllerComparison,
    Scenario,
    ScenarioGroup,
    States,
    difference,
)
from tests.real.deployment_scenarios import (
    KINDS,
    SCENARIOS,
    SET_SCENARIOS,
    final_state,
    final_state_of_sets,
    is_caught_up,
)

pytestmark = pytest.mark.deep

COMPARISON = ControllerComparison(
    parts=("replicasets", "deployments"),
    controllers=("replicaset-controller", "deployment-controller"),
    groups=(
        ScenarioGroup(
            scenarios=SCENARIOS, kinds=KINDS, is_caught_up=is_caught_up, final_state=final_state
        ),
        ScenarioGroup(
            scenarios=SET_SCENARIOS,
            kinds=KINDS,
            is_caught_up=is_caught_up,
            final_state=final_state_of_sets,
        ),
    ),
)


@pytest.fixture(scope="module")
def states() -> Iterator[tuple[States, States]]:
    """The final states with Kubernetes' controllers, and those with steersman's."""
    yield from COMPARISON.states()


@COMPARISON.each_scenario
def test_the_deployment_controller_writes_the_same_steps_on_a_real_server(
    scenario: Scenario, states: tuple[States, States]
) -> None:
    expected, actual = (each[scenario.__name__] for each in states)

    assert actual == expected, difference(expected, actual)


@COMPARISON.each_scenario
def test_the_deployment_controller_writes_the_same_steps_in_virtual_time(
    scenario: Scenario, states: tuple[States, States]
) -> None:
    expected, actual = states[0][scenario.__name__], COMPARISON.in_virtual_time(scenario)

    assert actual == expected, difference(expected, actual)
