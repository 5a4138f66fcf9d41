"""A former leader starts no reconcile, and makes no external write.

`python -m tests.real.failover.external_writes` runs more rounds, and compares versions.
"""

import pytest

from tests.real.failover.external_writes import Fault, run_rounds
from tests.real.test_failover import LEASE_TIMINGS


@pytest.mark.deep
async def test_a_former_leader_starts_no_reconcile_and_no_external_write() -> None:
    faults: list[Fault] = ["stopped", "cut off", "stopped"]

    found = await run_rounds(faults, seed=0, timings=LEASE_TIMINGS)

    assert [(each.fault, each.begun, each.wrote) for each in found] == [
        ("stopped", 0, 0),
        ("cut off", 0, 0),
        ("stopped", 0, 0),
    ]
