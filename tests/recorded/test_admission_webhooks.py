"""Both servers send the same requests to webhooks, and handle the responses alike."""

import pytest

from steersman_cluster.testing import ControlPlane
from tests.real.webhook_comparison import Scenario, embedded, run_on
from tests.recorded.module_recording import ModuleRecording
from tests.recorded.webhook_failures import FAILURES
from tests.recorded.webhook_scenarios import SCENARIOS

__all__ = ["embedded"]

# Another module has the lower numbers.
FIRST_NUMBER = 101


@pytest.mark.parametrize(
    ("number", "scenario"),
    [*enumerate(SCENARIOS + FAILURES, FIRST_NUMBER)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_webhooks_are_called_and_applied_as_by_the_real_server(
    number: int, scenario: Scenario, real: ModuleRecording, embedded: ControlPlane
) -> None:
    service = f"external.scenario-{number}.svc"

    expected = real.value(lambda plane: run_on(plane, scenario, service, number=number))
    steps = run_on(embedded, scenario, service, number=number)

    for step, wanted in zip(steps, expected, strict=True):
        assert step == wanted
