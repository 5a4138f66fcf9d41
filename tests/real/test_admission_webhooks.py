"""Both servers send the same requests to webhooks, and handle the responses alike."""

import pytest

from tests.real.differential.servers import HttpsServer
from tests.real.webhook_comparison import Scenario, both, next_number, tell
from tests.real.webhook_failures import FAILURES
from tests.real.webhook_scenarios import SCENARIOS

__all__ = ["both"]


@pytest.mark.parametrize("scenario", SCENARIOS + FAILURES, ids=lambda scenario: scenario.__name__)
def test_webhooks_are_called_and_obeyed_as_by_the_real_server(
    scenario: Scenario, both: tuple[HttpsServer, HttpsServer]
) -> None:
    number = next_number()

    first, second = (
        tell(scenario, server, f"away.scenario-{number}.svc", number=number) for server in both
    )

    for theirs, ours in zip(first, second, strict=True):
        assert ours == theirs
