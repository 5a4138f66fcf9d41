"""Both servers send the same requests to webhooks, and handle the responses alike."""

import pytest

from tests.real.webhook_comparison import Scenario, both, next_number, run_scenario
from tests.real.webhook_failures import FAILURES
from tests.real.webhook_scenarios import SCENARIOS
from tests.recorded.differential.servers import HttpsServer

__all__ = ["both"]


@pytest.mark.parametrize("scenario", SCENARIOS + FAILURES, ids=lambda scenario: scenario.__name__)
def test_webhooks_are_called_and_applied_as_by_the_real_server(
    scenario: Scenario, both: tuple[HttpsServer, HttpsServer]
) -> None:
    number = next_number()

    real, embedded = (
        run_scenario(scenario, server, f"external.scenario-{number}.svc", number=number)
        for server in both
    )

    for expected, actual in zip(real, embedded, strict=True):
        assert actual == expected
