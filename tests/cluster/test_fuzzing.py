"""The server survives a fuzzer: a short walk here, ``make fuzz`` for a long one."""

import pytest

from tests.fuzz.asking import samples
from tests.fuzz.stories import Story

SEEDS = range(7000, 7006)


@pytest.mark.deep
@pytest.mark.timeout(60)
@pytest.mark.parametrize("seed", SEEDS)
async def test_whatever_is_asked_is_answered_and_leaves_the_server_sound(seed: int) -> None:
    told = await Story(seed, samples()).run()

    assert [str(each) for each in told.findings] == []
    assert told.statuses[201] > 20, "most of what is asked should be taken"
