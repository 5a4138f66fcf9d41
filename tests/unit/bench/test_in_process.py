"""Gets in the process count only if they were answered."""

from bench.harness.in_process import measured


async def test_gets_that_are_answered_in_full_have_a_rate() -> None:
    found = await measured(3)

    assert found["rate"] > 0
    assert found["server_cpu"] > 0
