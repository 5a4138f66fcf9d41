"""Which requests pass the fence, and when."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from random import Random
from typing import Any

import pytest

from steersman.cache import background_tasks
from steersman.client import Client
from steersman.errors import DeadlinePassed, NotLeading
from steersman.kinds import core_v1, meta_v1
from steersman.manager.leader_election.fence import Fence, FencedTransport, is_fenced
from steersman.observe import WriteFenced
from steersman.wire import Request, Response
from tests.clocks import ManualClock
from tests.embedded import turns
from tests.transports import FakeResponse, ScriptedTransport, json_response

PATCH = Request(method="PATCH", path="/api/v1/namespaces/default/configmaps/a", body=b"{}")
GET = Request(method="GET", path="/api/v1/namespaces/default/configmaps/a")


class SlowTransport:
    """Reaches the server, and receives the response, when the test sets the events."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.responded = asyncio.Event()
        self.sent: list[str] = []

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        await self.reached.wait()
        if request.guard is not None:
            request.guard()
        self.sent.append(request.method)
        await self.responded.wait()
        async with ScriptedTransport(FakeResponse()).open(request) as response:
            yield response


class FenceFixture:
    """A fence in front of a slow transport."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.fence = Fence(self.clock)
        self.transport = SlowTransport()
        self.observed: list[object] = []
        self.fenced = FencedTransport(self.transport, self.fence, observe=self.observed.append)
        self.outcome: object = None

    def open_for(self, seconds: float) -> None:
        self.fence.extend_to(self.clock.monotonic() + seconds)

    async def send(self, request: Request = PATCH) -> None:
        try:
            async with self.fenced.open(request) as response:
                self.outcome = response.status
        except NotLeading as error:
            self.outcome = error


def test_a_fence_is_closed_at_first() -> None:
    fence = Fence(ManualClock())

    assert not fence.is_open
    assert fence.left_seconds == 0


def test_a_fence_is_open_until_its_deadline_and_closed_at_it() -> None:
    clock = ManualClock()
    fence = Fence(clock)

    fence.extend_to(clock.monotonic() + 10)
    clock.advance(9.5)
    assert (fence.is_open, fence.left_seconds) == (True, 0.5)

    clock.advance(0.5)
    assert (fence.is_open, fence.left_seconds) == (False, 0)


def test_a_fence_is_never_extended_to_an_earlier_deadline() -> None:
    clock = ManualClock()
    fence = Fence(clock)

    fence.extend_to(clock.monotonic() + 10)
    fence.extend_to(clock.monotonic() + 5)

    assert fence.left_seconds == 10


def test_a_closed_fence_can_be_opened_again_for_a_shorter_time() -> None:
    clock = ManualClock()
    fence = Fence(clock)
    fence.extend_to(clock.monotonic() + 10)

    fence.close()
    assert not fence.is_open

    fence.extend_to(clock.monotonic() + 5)
    assert fence.left_seconds == 5


FENCED = (
    "/api/v1/namespaces",
    "/api/v1/namespaces/events",
    "/api/v1/namespaces/events/finalize",
    "/api/v1/namespaces/default/configmaps/events",
    "/api/v1/namespaces/default/serviceaccounts/a/token",
    "/apis/apps/v1/namespaces/default/deployments/a/status",
    "/apis/apps/v1/namespaces/default/leases",
    "/apis/coordination.k8s.io/v1/namespaces/default/leasecandidates/a",
    "/apis/example.com/v1/events",
    "/apis/example.com/v1/tokenreviews",
    "/apis/authorization.k8s.io/v1/namespaces",
    "/metrics",
    "",
)
FREE = (
    "/api/v1/events",
    "/api/v1/namespaces/default/events",
    "/api/v1/namespaces/default/events/a",
    "/apis/events.k8s.io/v1/namespaces/default/events/a",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases/a",
    "/apis/authentication.k8s.io/v1/tokenreviews",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews",
)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_every_write_is_fenced_except_those_of_leases_events_and_reviews(method: str) -> None:
    assert [path for path in FENCED if not is_fenced(method, path)] == []
    assert [path for path in FREE if is_fenced(method, path)] == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_no_read_is_fenced(method: str) -> None:
    assert [path for path in FENCED if is_fenced(method, path)] == []


async def test_a_write_that_finds_the_fence_closed_is_held_back_and_reported() -> None:
    fixture = FenceFixture()
    fixture.transport.reached.set()

    await fixture.send()

    assert isinstance(fixture.outcome, NotLeading)
    assert not fixture.outcome.may_have_happened
    assert fixture.transport.sent == []
    assert fixture.observed == [WriteFenced(method="PATCH", path=PATCH.path)]


async def test_reads_and_exempt_writes_pass_a_closed_fence() -> None:
    fixture = FenceFixture()
    fixture.transport.reached.set()
    fixture.transport.responded.set()

    await fixture.send(GET)
    await fixture.send(Request(method="POST", path=FREE[0]))

    assert fixture.transport.sent == ["GET", "POST"]
    assert fixture.observed == []


async def test_a_write_passes_while_the_fence_is_open() -> None:
    fixture = FenceFixture()
    fixture.open_for(10)
    fixture.transport.reached.set()
    fixture.transport.responded.set()

    await fixture.send()

    assert fixture.outcome == 200
    assert fixture.observed == []


async def test_a_write_whose_time_runs_out_before_it_is_sent_is_not_sent() -> None:
    # Only time closes the fence here, as in a process that was stopped and continues.
    fixture = FenceFixture()
    fixture.open_for(10)

    async with background_tasks() as start:
        sending = start(fixture.send(), name="send")
        await turns()
        fixture.clock.advance(10)
        fixture.transport.reached.set()
        await sending

    assert isinstance(fixture.outcome, NotLeading)
    assert not fixture.outcome.may_have_happened
    assert fixture.transport.sent == []
    assert fixture.observed == [WriteFenced(method="PATCH", path=PATCH.path)]


async def test_a_write_without_a_response_is_cancelled_once_the_fence_closes() -> None:
    fixture = FenceFixture()
    fixture.open_for(10)
    fixture.transport.reached.set()

    async with background_tasks() as start:
        start(fixture.fence.close_at_deadline(), name="fence")
        sending = start(fixture.send(), name="send")
        await turns()
        fixture.clock.advance(9.9)
        await turns()
        assert fixture.outcome is None
        fixture.clock.advance(0.1)
        await sending

    assert isinstance(fixture.outcome, NotLeading)
    assert fixture.outcome.may_have_happened
    assert "may have succeeded" in str(fixture.outcome)
    assert fixture.observed == []


async def test_a_write_without_a_connection_is_cancelled_once_the_fence_closes() -> None:
    fixture = FenceFixture()
    fixture.open_for(10)

    async with background_tasks() as start:
        start(fixture.fence.close_at_deadline(), name="fence")
        sending = start(fixture.send(), name="send")
        await turns()
        fixture.clock.advance(10)
        await sending

    assert isinstance(fixture.outcome, NotLeading)
    assert not fixture.outcome.may_have_happened
    assert fixture.observed == [WriteFenced(method="PATCH", path=PATCH.path)]


async def test_a_slow_write_is_not_cancelled_while_the_fence_is_extended() -> None:
    fixture = FenceFixture()
    fixture.open_for(10)
    fixture.transport.reached.set()

    async with background_tasks() as start:
        start(fixture.fence.close_at_deadline(), name="fence")
        sending = start(fixture.send(), name="send")
        for _ in range(10):
            await turns()
            fixture.clock.advance(8)
            fixture.open_for(10)
        fixture.transport.responded.set()
        await sending

    assert fixture.outcome == 200


async def test_a_task_that_is_cancelled_and_fenced_at_once_is_cancelled() -> None:
    fixture = FenceFixture()
    fixture.open_for(10)
    fixture.transport.reached.set()

    async with background_tasks() as start:
        sending = start(fixture.send(), name="send")
        await turns()
        fixture.fence.close()
        sending.cancel()
        await asyncio.wait([sending])

    assert sending.cancelled()
    assert fixture.outcome is None


async def test_a_fence_that_closes_cancels_only_the_write() -> None:
    fixture = FenceFixture()
    fixture.open_for(10)
    fixture.transport.reached.set()
    went_on: list[int] = []

    async def send() -> None:
        await fixture.send()
        await turns()
        went_on.append(asyncio.current_task().cancelling())  # type: ignore[union-attr]

    async with background_tasks() as start:
        sending = start(send(), name="send")
        await turns()
        fixture.fence.close()
        await sending

    assert went_on == [0]


async def test_a_guard_of_the_request_itself_is_called_as_well() -> None:
    fixture = FenceFixture()
    fixture.open_for(inf)
    fixture.transport.reached.set()

    def refuse() -> None:
        raise PermissionError

    with pytest.raises(PermissionError):
        await fixture.send(Request(method="PUT", path="/api/v1/nodes/a", guard=refuse))

    assert fixture.transport.sent == []


async def test_a_client_does_not_retry_a_fenced_write() -> None:
    fixture = FenceFixture()
    transport = ScriptedTransport(json_response({}))
    fenced = FencedTransport(transport, fixture.fence, observe=fixture.observed.append)
    client = Client(fenced, clock=fixture.clock, rng=Random(0), observe=fixture.observed.append)

    with pytest.raises(NotLeading):
        await client.create(
            core_v1.ConfigMap(metadata=meta_v1.ObjectMeta(name="a", namespace="default"))
        )

    assert transport.requests == []


async def test_a_deadline_of_the_client_comes_before_a_fence_that_is_open_for_longer() -> None:
    fixture = FenceFixture()
    fixture.open_for(100)
    fixture.transport.reached.set()
    client = Client(
        fixture.fenced, clock=fixture.clock, rng=Random(0), observe=fixture.observed.append
    )
    outcomes: list[Exception] = []

    async def delete() -> None:
        try:
            await client.delete(core_v1.ConfigMap, "a", namespace="default")
        except DeadlinePassed as error:
            outcomes.append(error)

    async with background_tasks() as start:
        deleting = start(delete(), name="delete")
        await turns()
        fixture.clock.advance(60)
        await deleting

    assert len(outcomes) == 1


class TrackingTransport:
    """Exchanges that hold their request, and weak references to them."""

    class Exchange:
        def __init__(self, request: Request) -> None:
            self.request = request
            self.held = ScriptedTransport(FakeResponse()).open(request)

        async def __aenter__(self) -> Response:
            return await self.held.__aenter__()

        async def __aexit__(self, *ended: Any) -> bool | None:
            return await self.held.__aexit__(*ended)

    def __init__(self) -> None:
        self.exchanges: list[weakref.ref[TrackingTransport.Exchange]] = []

    def open(self, request: Request) -> "TrackingTransport.Exchange":
        exchange = TrackingTransport.Exchange(request)
        self.exchanges.append(weakref.ref(exchange))
        return exchange


async def test_a_finished_write_leaves_no_reference_cycle() -> None:
    clock = ManualClock()
    fence = Fence(clock)
    fence.extend_to(inf)
    transport = TrackingTransport()
    gc.disable()
    try:
        async with FencedTransport(transport, fence, observe=lambda _: None).open(PATCH):
            pass
        left = [each() for each in transport.exchanges]
    finally:
        gc.enable()

    assert left == [None]
