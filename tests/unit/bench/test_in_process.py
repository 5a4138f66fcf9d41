"""In-process gets count only with complete responses."""

import json
from collections.abc import Sequence

import pytest

from bench.harness.in_process import BODY, measured, timed
from steersman.wire import CertificateIdentity, Reply, Request
from steersman_cluster.apiserver import InProcessTransport

CREATED = Reply(status=201)
COMPLETE = Reply(status=200, body=json.dumps(BODY).encode())
EMPTY = Reply(status=200, body=json.dumps({**BODY, "data": {}}).encode())
REJECTED = Reply(status=429, body=COMPLETE.body)


class ScriptedHandler:
    """A server with the given responses, one after the other."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self._replies = iter(replies)

    async def handle(self, request: Request, *, certificate: CertificateIdentity | None) -> Reply:
        return next(self._replies)


async def test_complete_responses_to_gets_have_a_rate() -> None:
    found = await measured(3)

    assert found["rate"] > 0
    assert found["server_cpu"] > 0


@pytest.mark.parametrize(
    "gets",
    [
        [EMPTY] * 4,
        [COMPLETE, EMPTY, COMPLETE, COMPLETE],
        [COMPLETE] * 3 + [EMPTY],
        [COMPLETE] * 3 + [REJECTED],
    ],
    ids=["all are wrong", "one is wrong", "the last is wrong", "the last is rejected"],
)
async def test_an_unexpected_response_to_a_get_is_an_error(gets: list[Reply]) -> None:
    # The first get defines the expected response; three are timed.
    transport = InProcessTransport(ScriptedHandler([CREATED, *gets]))

    with pytest.raises(AssertionError, match=r"GET .*: status"):
        await timed(transport, 3)
