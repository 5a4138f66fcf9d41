"""Replicas that share a lease on the embedded server, with a clock that the test advances."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, TypeVar

import pytest

from steersman.cache import background_tasks
from steersman.client import Client, MergePatch
from steersman.errors import Forbidden, NotFound, NotLeading, Unreachable
from steersman.kinds import coordination_v1, core_v1, meta_v1
from steersman.manager.leader_election.election import LeaseSettings
from steersman.manager.leader_election.fence import Fence, FencedTransport
from steersman.manager.leader_election.leadership import Leadership
from steersman.observe import (
    LeaderChanged,
    LeadershipGained,
    LeadershipLost,
    LeadershipReleased,
    LeadershipRenewed,
    RenewalFailed,
    WriteFenced,
)
from steersman_cluster.apiserver import InProcessTransport
from tests.clocks import ManualClock
from tests.cluster.faulty_transports import FaultyTransport
from tests.embedded import EmbeddedServer, turns
from tests.transports import error_response

E = TypeVar("E")

# The steps of a second; no interval here is shorter.
PARTS = 4


class Replica:
    """A candidate with its own clock, transport and fence."""

    def __init__(self, api: EmbeddedServer, name: str, *, now: datetime) -> None:
        self.name = name
        self.clock = ManualClock(now=now)
        self.transport = FaultyTransport(InProcessTransport(api.server))
        self.observed: list[Any] = []
        self.fence = Fence(self.clock)
        self.leadership = Leadership(
            self._client(self.transport),
            settings=LeaseSettings(namespace="default", name="web", identity=name),
            fence=self.fence,
            clock=self.clock,
            rng=Random(name),
            observe=self.observed.append,
        )
        self.writer = self._client(
            FencedTransport(
                InProcessTransport(api.server), self.fence, observe=self.observed.append
            )
        )
        self.terms = 0
        self.is_in_term = False
        self.stop = asyncio.Event()

    def _client(self, transport: Any) -> Client:
        return Client(transport, clock=self.clock, rng=Random(0), observe=self.observed.append)

    @property
    def leads(self) -> bool:
        return self.is_in_term and self.fence.is_open

    async def run(self) -> None:
        """Run leader election until stopped."""
        while not self.stop.is_set():
            async with self.leadership.term() as term, background_tasks() as start:
                self.terms += 1
                self.is_in_term = True
                start(self._after(term.wait_until_lost()), name="lost")
                await self._ended()
                self.is_in_term = False

    async def _ended(self) -> None:
        self._over = asyncio.Event()
        async with background_tasks() as start:
            start(self._after(self.stop.wait()), name="stop")
            await self._over.wait()

    async def _after(self, awaited: Any) -> None:
        await awaited
        self._over.set()

    async def write(self) -> str:
        """Send a write; its outcome."""
        data = MergePatch({"data": {"by": self.name}})
        try:
            await self.writer.patch(core_v1.ConfigMap, "target", data, namespace="default")
        except NotLeading:
            return "held back"
        return "written"

    def seen(self, kind: type[E]) -> list[E]:
        return [each for each in self.observed if isinstance(each, kind)]


class Scene:
    """A server, and the running replicas."""

    def __init__(self) -> None:
        self.api = EmbeddedServer(clock=ManualClock())
        self.admin = self.api.client()
        self.replicas: list[Replica] = []
        self._running: dict[str, asyncio.Task[None]] = {}

    @asynccontextmanager
    async def running(self, *names: str, **offsets: timedelta) -> AsyncIterator[list[Replica]]:
        """Start these replicas one after the other, so that the first leads."""
        await self.admin.create(
            core_v1.ConfigMap(metadata=meta_v1.ObjectMeta(name="target", namespace="default"))
        )
        async with background_tasks() as start:
            for name in names:
                now = datetime(2026, 1, 1, tzinfo=UTC) + offsets.get(name, timedelta())
                replica = Replica(self.api, name, now=now)
                self.replicas.append(replica)
                self._running[name] = start(replica.run(), name=name)
                await self.settle()
            yield self.replicas

    def kill(self, replica: Replica) -> None:
        """Kill a replica, so that it cannot release the lease."""
        replica.transport.fixed_response = Unreachable("it is dead")
        self._running[replica.name].cancel()

    async def settle(self) -> None:
        for _ in range(10):
            await turns()

    async def after(self, seconds: float, *, but_not: Replica | None = None) -> None:
        """Advance all clocks, or all but that of one suspended replica."""
        for _ in range(round(seconds * PARTS)):
            for replica in self.replicas:
                if replica is not but_not:
                    replica.clock.advance(1 / PARTS)
            await self.settle()

    async def lease(self) -> coordination_v1.LeaseSpec:
        lease = await self.admin.get(coordination_v1.Lease, "web", namespace="default")
        assert lease.spec is not None
        return lease.spec

    async def delete_lease(self) -> None:
        await self.admin.delete(coordination_v1.Lease, "web", namespace="default")


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def test_one_of_two_candidates_leads_and_keeps_the_lease(scene: Scene) -> None:
    async with scene.running("one", "two") as (one, two):
        for _ in range(60):
            await scene.after(1)
            assert (one.leads, two.leads) == (True, False)

        assert len(one.seen(LeadershipRenewed)) >= 25
        assert (await scene.lease()).holder_identity == "one"
        assert two.leadership.holder == "one"


async def test_the_lease_has_its_holder_acquire_time_and_duration(scene: Scene) -> None:
    async with scene.running("one"):
        await scene.after(2)

        lease = await scene.lease()
        assert (lease.holder_identity, lease.lease_duration_seconds) == ("one", 15)
        assert lease.lease_transitions == 0
        assert lease.acquire_time == datetime(2026, 1, 1, tzinfo=UTC)
        assert lease.renew_time == datetime(2026, 1, 1, 0, 0, 2, tzinfo=UTC)


async def test_a_standby_names_the_leader(scene: Scene) -> None:
    async with scene.running("one", "two") as (_, two):
        assert [each.holder for each in two.seen(LeaderChanged)] == ["one"]


async def test_a_leader_that_stops_releases_the_lease_at_once(scene: Scene) -> None:
    async with scene.running("one", "two") as (one, two):
        one.stop.set()
        await scene.settle()
        assert len(one.seen(LeadershipReleased)) == 1
        lease = await scene.lease()
        assert (lease.holder_identity, lease.lease_duration_seconds) == ("", 1)

        # At the next retry, and not after fifteen seconds.
        await scene.after(4.5)

        assert two.leads
        assert (await scene.lease()).lease_transitions == 1


async def test_a_released_lease_is_released_only_once_the_block_has_ended(scene: Scene) -> None:
    async with scene.running():
        replica = Replica(scene.api, "one", now=scene.api.clock.now())
        async with replica.leadership.term():
            await scene.settle()
            before = (await scene.lease()).holder_identity

        assert (before, (await scene.lease()).holder_identity) == ("one", "")
        assert not replica.fence.is_open


async def test_a_dead_holder_is_replaced_after_its_lease(scene: Scene) -> None:
    async with scene.running("one", "two") as (one, two):
        scene.kill(one)
        await scene.after(10)
        assert not two.leads

        await scene.after(10)

        assert two.leads
        assert (await scene.lease()).lease_transitions == 1


@pytest.mark.parametrize("days", [-365, 365])
async def test_a_clock_that_is_a_year_off_changes_nothing(scene: Scene, days: int) -> None:
    async with scene.running("one", "two", two=timedelta(days=days)) as (one, two):
        await scene.after(40)
        assert (one.leads, two.leads) == (True, False)

        scene.kill(one)
        await scene.after(10)
        assert not two.leads
        await scene.after(10)
        assert two.leads


async def test_a_leader_that_cannot_renew_stops_before_another_leads(scene: Scene) -> None:
    async with scene.running("one", "two") as (one, two):
        one.transport.fixed_response = Unreachable("the network is down")
        lost_after = gained_after = None
        for quarter in range(1, 100):
            await scene.after(0.25)
            if lost_after is None and not one.leads:
                lost_after = quarter / 4
            if gained_after is None and two.leads:
                gained_after = quarter / 4

        assert lost_after is not None
        assert gained_after is not None
        assert 8 <= lost_after <= 10 < 13 <= gained_after <= 20
        assert [each.reason for each in one.seen(LeadershipLost)] == [
            "the lease was not renewed in time"
        ]
        assert len(one.seen(RenewalFailed)) >= 4
        assert not one.is_in_term


async def test_a_renewal_is_tried_several_times_before_leadership_is_lost(
    scene: Scene,
) -> None:
    async with scene.running("one") as (one,):
        one.transport.server = HangingTransport()
        await scene.after(11)

        assert not one.leads
        assert [type(each.error).__name__ for each in one.seen(RenewalFailed)] == [
            "DeadlinePassed"
        ] * 3


class HangingTransport:
    """Never responds."""

    @asynccontextmanager
    async def open(self, request: Any) -> AsyncIterator[Any]:
        await asyncio.Event().wait()
        yield None


@pytest.mark.parametrize("code", [409, 500, 503, 429])
async def test_a_temporary_renewal_failure_does_not_lose_leadership(
    scene: Scene, code: int
) -> None:
    async with scene.running("one", "two") as (one, two):
        one.transport.fixed_response = error_response(code)
        await scene.after(7)
        one.transport.fixed_response = None
        await scene.after(30)

        assert (one.leads, two.leads) == (True, False)
        assert one.terms == 1


async def test_a_replica_that_reconnects_after_a_partition_stands_by(scene: Scene) -> None:
    async with scene.running("one", "two") as (one, two):
        one.transport.fixed_response = Unreachable("the network is down")
        await scene.after(30)
        one.transport.fixed_response = None
        await scene.after(10)
        assert (one.leads, two.leads) == (False, True)

        two.stop.set()
        await scene.after(5)

        assert one.leads
        assert one.terms == 2


async def test_a_partitioned_leader_without_other_candidates_leads_again(
    scene: Scene,
) -> None:
    async with scene.running("one") as (one,):
        one.transport.fixed_response = Unreachable("the network is down")
        await scene.after(12)
        assert not one.leads

        one.transport.fixed_response = None
        await scene.after(5)

        assert one.leads
        assert one.terms == 2


async def test_a_write_of_a_replica_that_no_longer_leads_is_not_sent(
    scene: Scene,
) -> None:
    async with scene.running("one", "two") as (one, two):
        assert (await one.write(), await two.write()) == ("written", "held back")

        await scene.after(25, but_not=one)
        assert await two.write() == "written"
        # It resumes, and its clock has advanced; no other task has run yet.
        one.clock.advance(25)

        assert await one.write() == "held back"
        assert one.seen(WriteFenced)[-1].method == "PATCH"
        await scene.settle()
        assert len(one.seen(LeadershipLost)) == 1


async def test_a_leader_notices_that_another_replica_holds_the_lease(scene: Scene) -> None:
    async with scene.running("one") as (one,):
        patch = MergePatch({"spec": {"holderIdentity": "a person"}})
        await scene.admin.patch(coordination_v1.Lease, "web", patch, namespace="default")
        await scene.after(2)

        assert not one.leads
        assert [each.reason for each in one.seen(LeadershipLost)] == ["a person holds the lease"]


async def test_a_deleted_lease_is_created_again_by_its_holder(scene: Scene) -> None:
    async with scene.running("one", "two") as (one, two):
        await scene.after(5)
        await scene.delete_lease()
        await scene.after(20)

        assert (one.leads, two.leads) == (True, False)
        assert one.terms == 1
        assert (await scene.lease()).holder_identity == "one"


async def test_a_deleted_lease_of_a_partitioned_leader_is_not_acquired_early(
    scene: Scene,
) -> None:
    async with scene.running("one", "two") as (one, two):
        await scene.after(5)
        one.transport.fixed_response = Unreachable("the network is down")
        await scene.delete_lease()
        for _ in range(30):
            await scene.after(1)
            assert not (one.leads and two.leads)

        assert two.leads


async def test_a_label_change_of_a_user_does_not_affect_the_holder(scene: Scene) -> None:
    async with scene.running("one", "two") as (one, two):
        for number in range(10):
            label = MergePatch({"metadata": {"labels": {"number": str(number)}}})
            await scene.admin.patch(coordination_v1.Lease, "web", label, namespace="default")
            await scene.after(3)

        assert (one.leads, two.leads) == (True, False)
        assert one.seen(RenewalFailed) == []


async def test_a_candidate_whose_response_is_lost_leads_after_a_retry(scene: Scene) -> None:
    async with scene.running():
        one = Replica(scene.api, "one", now=scene.api.clock.now())
        scene.replicas.append(one)
        one.transport.server = LosingTransport(one.transport.server)
        async with background_tasks() as start:
            start(one.run(), name="one")
            await scene.settle()
            assert (await scene.lease()).holder_identity == "one"
            assert not one.leads

            await scene.after(5)

            assert one.leads
            assert (await scene.lease()).lease_transitions == 0


class LosingTransport:
    """Loses the response to the first write."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._loses = True

    @asynccontextmanager
    async def open(self, request: Any) -> AsyncIterator[Any]:
        async with self._inner.open(request) as response:
            if self._loses and request.method != "GET":
                self._loses = False
                raise Unreachable("the answer was lost")
            yield response


async def test_a_missing_permission_is_reported_and_retried(scene: Scene) -> None:
    async with scene.running():
        one = Replica(scene.api, "one", now=scene.api.clock.now())
        scene.replicas.append(one)
        one.transport.fixed_response = error_response(403, "Forbidden")
        async with background_tasks() as start:
            start(one.run(), name="one")
            await scene.after(20)
            failures = one.seen(RenewalFailed)
            assert len(failures) >= 4
            assert all(isinstance(each.error, Forbidden) for each in failures)

            one.transport.fixed_response = None
            await scene.after(5)

            assert one.leads


async def test_a_missing_namespace_is_reported_and_retried(scene: Scene) -> None:
    async with scene.running():
        observed: list[Any] = []
        clock = ManualClock()
        fence = Fence(clock)
        leadership = Leadership(
            Client(
                InProcessTransport(scene.api.server),
                clock=clock,
                rng=Random(0),
                observe=observed.append,
            ),
            settings=LeaseSettings(namespace="later", name="web", identity="one"),
            fence=fence,
            clock=clock,
            rng=Random(0),
            observe=observed.append,
        )

        async def lead() -> None:
            async with leadership.term() as term:
                await term.wait_until_lost()

        async with background_tasks() as start:
            start(lead(), name="lead")
            await scene.settle()
            (failure,) = [each for each in observed if isinstance(each, RenewalFailed)]
            assert isinstance(failure.error, NotFound)
            assert "later" in str(failure.error)

            await scene.admin.create(core_v1.Namespace(metadata=meta_v1.ObjectMeta(name="later")))
            clock.advance(5)
            await scene.settle()

            assert fence.is_open


async def test_only_one_of_many_that_start_at_once_leads(scene: Scene) -> None:
    async with scene.running():
        async with background_tasks() as start:
            for number in range(10):
                replica = Replica(scene.api, f"r{number}", now=scene.api.clock.now())
                scene.replicas.append(replica)
                start(replica.run(), name=replica.name)
            for _ in range(30):
                await scene.after(1)
                assert sum(each.leads for each in scene.replicas) == 1

        gained = [each for replica in scene.replicas for each in replica.seen(LeadershipGained)]
        assert len(gained) == 1


async def test_a_term_that_is_cancelled_releases_the_lease(scene: Scene) -> None:
    async with scene.running("one") as (one,):
        scene._running["one"].cancel()
        await scene.settle()

        assert (await scene.lease()).holder_identity == ""
        assert not one.fence.is_open


async def test_a_candidate_that_is_cancelled_during_its_request_releases_the_lease(
    scene: Scene,
) -> None:
    async with scene.running():
        one = Replica(scene.api, "one", now=scene.api.clock.now())
        one.transport.server = LosingTransport(one.transport.server)
        async with background_tasks() as start:
            running = start(one.run(), name="one")
            await scene.settle()
            assert (await scene.lease()).holder_identity == "one"

            running.cancel()
            await scene.settle()

        assert (await scene.lease()).holder_identity == ""


async def test_a_standby_that_is_cancelled_sends_no_more_requests(scene: Scene) -> None:
    async with scene.running("one", "two") as (_, two):
        before = len(two.transport.requests)
        scene._running["two"].cancel()
        await scene.settle()

        assert len(two.transport.requests) == before
        assert (await scene.lease()).holder_identity == "one"


async def test_a_release_without_a_response_does_not_delay_the_stop(scene: Scene) -> None:
    async with scene.running("one") as (one,):
        one.transport.server = HangingTransport()
        one.stop.set()
        await scene.after(2.5)

        assert scene._running["one"].done()
        assert one.seen(LeadershipReleased) == []
