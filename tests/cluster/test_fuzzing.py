"""The server survives a fuzzer: a short run here, a long one with ``make fuzz``."""

import pytest

from tests.fuzz.request_generator import samples
from tests.fuzz.scenarios import Scenario

SEEDS = range(7000, 7006)


@pytest.mark.deep
@pytest.mark.parametrize("seed", SEEDS)
async def test_the_server_survives_every_generated_request(seed: int) -> None:
    outcome = await Scenario(seed, samples()).run()

    assert [str(each) for each in outcome.findings] == []
    assert outcome.statuses[201] > 20, "most of what is asked should be taken"
