"""Gets in the process count only if they were answered."""

import json
from collections.abc import Sequence

import pytest

from bench.harness.in_process import BODY, measured, timed
from steersman.wire import CertificateIdentity, Reply, Request
from steersman_cluster.apiserver import InProcessTransport

CREATED = Reply(status=201)
RIGHT = Reply(status=200, body=json.dumps(BODY).encode())
EMPTY = Reply(status=200, body=json.dumps({**BODY, "data": {}}).encode())
REFUSED = Reply(status=429, body=RIGHT.body)


class Answers:
    """A server that has these answers, one after another."""

    def __init__(self, answers: Sequence[Reply]) -> None:
        self._answers = iter(answers)

    async def handle(self, request: Request, *, certificate: CertificateIdentity | None) -> Reply:
        return next(self._answers)


async def test_complete_responses_to_gets_have_a_rate() -> None:
    found = await measured(3)

    assert found["rate"] > 0
    assert found["server_cpu"] > 0


@pytest.mark.parametrize(
    "gets",
    [[EMPTY] * 4, [RIGHT, EMPTY, RIGHT, RIGHT], [RIGHT] * 3 + [EMPTY], [RIGHT] * 3 + [REFUSED]],
    ids=["all are wrong", "one is wrong", "the last is wrong", "the last is refused"],
)
async def test_an_unexpected_response_to_a_get_is_an_error(gets: list[Reply]) -> None:
    # The first get says what the right answer is; three are timed.
    transport = InProcessTransport(Answers([CREATED, *gets]))

    with pytest.raises(AssertionError, match="was answered"):
        await timed(transport, 3)
