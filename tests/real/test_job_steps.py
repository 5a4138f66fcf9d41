"""steersman's Jobs and CronJobs take the steps of kube-controller-manager's."""

from collections.abc import Iterator

import pytest

from tests.real import cron_scenarios, job_scenarios
from tests.real.controller_comparison import (
    ControllerComparison,
    Ends,
    Scenario,
    ScenarioGroup,
    difference,
)

pytestmark = pytest.mark.timeout(180)

COMPARISON = ControllerComparison(
    parts=("jobs", "cronjobs"),
    theirs=("job-controller", "cronjob-controller"),
    groups=tuple(
        ScenarioGroup(
            scenarios=module.SCENARIOS,
            kinds=module.KINDS,
            is_caught_up=module.is_caught_up,
            seen=module.seen,
        )
        for module in (job_scenarios, cron_scenarios)
    ),
)


@pytest.fixture(scope="module")
def ends() -> Iterator[tuple[Ends, Ends]]:
    """The resulting state after each scenario: with Kubernetes' own controllers, and with ours."""
    yield from COMPARISON.ends()


@COMPARISON.each_scenario
def test_the_job_controller_writes_the_same_steps_on_a_real_server(
    scenario: Scenario, ends: tuple[Ends, Ends]
) -> None:
    theirs, ours = (each[scenario.__name__] for each in ends)

    assert ours == theirs, difference(theirs, ours)


@COMPARISON.each_scenario
def test_the_job_controller_writes_the_same_steps_in_virtual_time(
    scenario: Scenario, ends: tuple[Ends, Ends]
) -> None:
    theirs, ours = ends[0][scenario.__name__], COMPARISON.in_virtual_time(scenario)

    assert ours == theirs, difference(theirs, ours)
