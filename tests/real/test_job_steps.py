"""steersman's Job and CronJob controllers write the same steps as kube-controller-manager's."""

from collections.abc import Iterator

import pytest

from tests.real import cron_scenarios, job_scenarios
from tests.real.controller_comparison import (
    ControllerComparison,
    Scenario,
    ScenarioGroup,
    States,
    difference,
)

pytestmark = pytest.mark.deep

COMPARISON = ControllerComparison(
    parts=("jobs", "cronjobs"),
    controllers=("job-controller", "cronjob-controller"),
    groups=tuple(
        ScenarioGroup(
            scenarios=module.SCENARIOS,
            kinds=module.KINDS,
            is_caught_up=module.is_caught_up,
            final_state=module.final_state,
        )
        for module in (job_scenarios, cron_scenarios)
    ),
)


@pytest.fixture(scope="module")
def states() -> Iterator[tuple[States, States]]:
    """The final states with Kubernetes' controllers, and those with steersman's."""
    yield from COMPARISON.states()


@COMPARISON.each_scenario
def test_the_job_controller_writes_the_same_steps_on_a_real_server(
    scenario: Scenario, states: tuple[States, States]
) -> None:
    expected, actual = (each[scenario.__name__] for each in states)

    assert actual == expected, difference(expected, actual)


@COMPARISON.each_scenario
def test_the_job_controller_writes_the_same_steps_in_virtual_time(
    scenario: Scenario, states: tuple[States, States]
) -> None:
    expected, actual = states[0][scenario.__name__], COMPARISON.in_virtual_time(scenario)

    assert actual == expected, difference(expected, actual)
