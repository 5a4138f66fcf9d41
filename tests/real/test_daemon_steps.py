"""steersman's DaemonSets, budgets and quotas reach the states of kube-controller-manager's."""

from collections.abc import Iterator

import pytest

from tests.real.controller_comparison import (
    ControllerComparison,
    Scenario,
    ScenarioGroup,
    States,
    difference,
)
from tests.real.daemon_scenarios import KINDS, SCENARIOS, final_state, is_caught_up

pytestmark = pytest.mark.deep

COMPARISON = ControllerComparison(
    parts=("replicasets", "deployments", "daemonsets", "disruptions", "quotas"),
    controllers=(
        "replicaset-controller",
        "deployment-controller",
        "daemonset-controller",
        "disruption-controller",
        "resourcequota-controller",
    ),
    groups=(
        ScenarioGroup(
            scenarios=SCENARIOS, kinds=KINDS, is_caught_up=is_caught_up, final_state=final_state
        ),
    ),
)


@pytest.fixture(scope="module")
def states() -> Iterator[tuple[States, States]]:
    """The final states with Kubernetes' controllers, and those with steersman's."""
    yield from COMPARISON.states()


@COMPARISON.each_scenario
def test_daemon_set_budget_and_quota_controllers_reach_the_same_state_on_a_real_server(
    scenario: Scenario, states: tuple[States, States]
) -> None:
    expected, actual = (each[scenario.__name__] for each in states)

    assert actual == expected, difference(expected, actual)


@COMPARISON.each_scenario
def test_daemon_set_budget_and_quota_controllers_reach_the_same_state_in_virtual_time(
    scenario: Scenario, states: tuple[States, States]
) -> None:
    expected, actual = states[0][scenario.__name__], COMPARISON.in_virtual_time(scenario)

    assert actual == expected, difference(expected, actual)
