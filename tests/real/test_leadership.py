"""Leases are acquired, renewed, released and taken over in real time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC
from random import Random

import pytest

from steersman.client import Client, MergePatch, find_config, open_transport
from steersman.clock import SystemClock
from steersman.errors import NotLeading
from steersman.kinds import coordination_v1, core_v1, meta_v1
from steersman.manager.leader_election.election import LeaseSettings
from steersman.manager.leader_election.fence import Fence, FencedTransport
from steersman.manager.leader_election.leadership import Leadership
from steersman.observe import LeaderChanged, LeadershipGained, LeadershipRenewed, RenewalFailed
from steersman.units import MicroTime
from steersman_cluster.testing import ControlPlane
from tests.real.clients import connected
from tests.real.objects import create_config_maps
from tests.real.recording_observer import RecordingObserver
from tests.real.running_informers import FastClock

# Longer than the delays of a busy machine; no test waits for it.
LEASE_SECONDS = 60


class Candidate:
    """A replica with its own connections, whose retry and renew intervals are shortened."""

    def __init__(self, client: Client, namespace: str, name: str, seen: RecordingObserver) -> None:
        self.seen = seen
        self.fence = Fence(SystemClock())
        self.leadership = Leadership(
            client,
            settings=LeaseSettings(
                namespace=namespace,
                name="web",
                identity=name,
                lease_seconds=LEASE_SECONDS,
                renew_seconds=40.0,
                retry_seconds=10.0,
            ),
            fence=self.fence,
            clock=FastClock(),
            rng=Random(name),
            observe=seen,
        )


@asynccontextmanager
async def candidate(plane: ControlPlane, namespace: str, name: str) -> AsyncIterator[Candidate]:
    seen = RecordingObserver()
    async with connected(plane, observe=seen) as client:
        yield Candidate(client, namespace, name, seen)


async def spec_of(client: Client, namespace: str) -> coordination_v1.LeaseSpec:
    lease = await client.get(coordination_v1.Lease, "web", namespace=namespace)
    assert lease.spec is not None
    return lease.spec


async def renewals(seen: RecordingObserver, number: int) -> None:
    while len(seen.of(LeadershipRenewed)) < number:
        await seen.more()


async def test_a_lease_is_acquired_renewed_and_released(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    async with candidate(control_plane, namespace, "one") as one:
        async with one.leadership.term():
            taken = await spec_of(client, namespace)
            await renewals(one.seen, 3)
            renewed = await spec_of(client, namespace)
            assert one.fence.is_open
        after = await spec_of(client, namespace)

    assert taken.holder_identity == renewed.holder_identity == "one"
    assert (taken.lease_duration_seconds, taken.lease_transitions) == (LEASE_SECONDS, 0)
    assert taken.acquire_time == renewed.acquire_time
    assert taken.renew_time is not None
    assert renewed.renew_time is not None
    assert taken.renew_time < renewed.renew_time
    assert (after.holder_identity, after.lease_duration_seconds) == ("", 1)
    assert one.seen.of(RenewalFailed) == []
    assert not one.fence.is_open


async def test_a_waiting_candidate_acquires_a_released_lease(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    async with (
        candidate(control_plane, namespace, "one") as one,
        candidate(control_plane, namespace, "two") as two,
        asyncio.TaskGroup() as group,
    ):
        async with one.leadership.term():

            async def wait_and_lead() -> None:
                async with two.leadership.term():
                    assert (await spec_of(client, namespace)).holder_identity == "two"

            group.create_task(wait_and_lead(), name="two")
            await renewals(one.seen, 2)
            assert two.seen.of(LeadershipGained) == []
        released_at = SystemClock().monotonic()
        await two.seen.first(LeadershipGained)

        assert SystemClock().monotonic() - released_at < LEASE_SECONDS


async def test_a_dead_leader_is_replaced_after_the_lease_expires(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    # The dead leader's clock is far behind, and its lease shorter.
    long_ago = MicroTime(2001, 1, 1, tzinfo=UTC)
    dead = coordination_v1.LeaseSpec(
        holder_identity="dead",
        lease_duration_seconds=2,
        acquire_time=long_ago,
        renew_time=long_ago,
        lease_transitions=7,
    )
    meta = meta_v1.ObjectMeta(name="web", namespace=namespace)
    await client.create(coordination_v1.Lease(metadata=meta, spec=dead))

    async with candidate(control_plane, namespace, "two") as two:
        async with two.leadership.term():
            spec = await spec_of(client, namespace)

    (gained,) = two.seen.of(LeadershipGained)
    assert 2 <= gained.waited_seconds < LEASE_SECONDS
    assert [each.holder for each in two.seen.of(LeaderChanged)] == ["dead", "two", ""]
    assert (spec.holder_identity, spec.lease_transitions) == ("two", 8)


async def test_a_lease_of_another_holder_ends_the_term_and_its_writes(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "target")
    config = find_config(
        environ={},
        home=control_plane.directory,
        kubeconfig=control_plane.kubeconfig,
        observe=RecordingObserver(),
    )
    async with (
        candidate(control_plane, namespace, "one") as one,
        open_transport(config, clock=SystemClock(), observe=one.seen) as transport,
        one.leadership.term() as term,
    ):
        fenced = FencedTransport(transport, one.fence, observe=one.seen)
        writer = Client(fenced, clock=SystemClock(), rng=Random(0), observe=one.seen)
        patch = MergePatch({"data": {"by": "one"}})
        await writer.patch(core_v1.ConfigMap, "target", patch, namespace=namespace)

        taken = MergePatch({"spec": {"holderIdentity": "other"}})
        await client.patch(coordination_v1.Lease, "web", taken, namespace=namespace)
        await term.wait_until_lost()

        assert term.reason == "other holds the lease"
        with pytest.raises(NotLeading):
            await writer.patch(core_v1.ConfigMap, "target", patch, namespace=namespace)

    assert (await spec_of(client, namespace)).holder_identity == "other"
