"""Leadership: acquires a lease, renews it, and releases it.

    async with leadership.term() as term:   # waits until this replica leads
        ...                                  # actions of the leader
        await term.wait_until_lost()

``steersman.manager.leader_election.election`` contains the rules; this module applies the rules
with a client.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from steersman.cache import background_tasks
from steersman.client import Client, MergePatch, RetryPolicy
from steersman.clock import Clock
from steersman.errors import AlreadyExists, Conflict, NotFound, SteersmanError
from steersman.kinds import coordination_v1, meta_v1
from steersman.manager.leader_election.election import (
    CandidateState,
    Claim,
    LeaseEvent,
    LeaseRead,
    LeaseSettings,
    ObservedLease,
    ReadStep,
    Record,
    Step,
    WriteConfirmed,
    WriteStarted,
    advance,
    next_step,
    released_record,
    wait_seconds,
)
from steersman.manager.leader_election.fence import Fence
from steersman.names import ObjectRef
from steersman.observe import (
    LeaderChanged,
    LeadershipGained,
    LeadershipLost,
    LeadershipReleased,
    LeadershipRenewed,
    Observer,
    RenewalFailed,
)
from steersman.units import MicroTime, format_micro_time

# Another client may write between the read and the write; twice in a row is unlikely.
ROUNDS: Final = 3

# The number of attempts within the time for a renewal if the server does not respond. Not more,
# because a server under load takes seconds.
RENEWAL_ATTEMPTS: Final = 3


class Term:
    """One term of this replica as the leader."""

    def __init__(self) -> None:
        self._lost = asyncio.Event()
        self.reason = ""

    def __repr__(self) -> str:
        return f"<Term {f'lost: {self.reason}' if self.is_lost else 'going on'}>"

    @property
    def is_lost(self) -> bool:
        """Whether the term ended early, because the lease was lost or could not be renewed."""
        return self._lost.is_set()

    async def wait_until_lost(self) -> None:
        """Wait until the term has ended; from then on, no write is sent."""
        await self._lost.wait()

    def lose(self, reason: str) -> None:
        """End the term for ``reason``, and wake all tasks in ``wait_until_lost``."""
        self.reason = reason
        self._lost.set()


class Leadership:
    """One candidate for one lease.

    ``client`` should have its own connection and retry budget, so that other requests of the leader
    do not delay a renewal of the lease. ``client`` must not be fenced. The fence ``fence`` is open
    during each term.
    """

    def __init__(
        self,
        client: Client,
        *,
        settings: LeaseSettings,
        fence: Fence,
        clock: Clock,
        rng: Random,
        observe: Observer,
    ) -> None:
        # Only the interval of the lease decides when a failed request is repeated.
        self._client = client.with_settings(retry=RetryPolicy(attempts=1))
        self._settings = settings
        self._fence = fence
        self._clock = clock
        self._rng = rng
        self._observe = observe
        self._standing = CandidateState()
        self._tried_at = clock.monotonic()
        self._lease = ObjectRef("Lease", settings.namespace, settings.name)

    def __repr__(self) -> str:
        what = "leads" if self._fence.is_open else "stands by"
        return f"<Leadership {self._settings.identity} {what}, {self._lease}>"

    @property
    def holder(self) -> str:
        """The last known holder of the lease; ``""`` if no replica held the lease."""
        return self._standing.observed.record.holder

    @property
    def idle_seconds(self) -> float:
        """The time since the last attempt to acquire or renew the lease."""
        return self._clock.monotonic() - self._tried_at

    @asynccontextmanager
    async def term(self) -> AsyncIterator[Term]:
        """Wait until this replica leads; then run the block, during which the lease is renewed.

        If the term is lost, the block is not cancelled, but the fence rejects every write. All
        tasks of the block must have ended when the block ends: the lease is then released, and
        another replica can lead immediately.
        """
        term = Term()
        try:
            await self._campaign()
            async with background_tasks() as start:
                start(self._fence.close_at_deadline(), name=f"fence of {self._lease}")
                start(self._keep(term), name=f"renewal of {self._lease}")
                yield term
        finally:
            self._fence.close()
            # A candidate that is cancelled before it leads may have written its claim unknowingly.
            if not term.is_lost and self._standing.claim is not None:
                await self._release()

    # The parts of a term

    async def _campaign(self) -> None:
        began_at = self._clock.monotonic()
        while True:
            await self._try(must_look=True, within_seconds=self._try_seconds)
            if self._fence.is_open:
                break
            now_at = self._clock.monotonic()
            pause_seconds = wait_seconds(
                self._standing, settings=self._settings, now_at=now_at, rng=self._rng
            )
            await self._clock.sleep(pause_seconds)
        self._observe(
            LeadershipGained(
                lease=self._lease,
                identity=self._settings.identity,
                waited_seconds=self._clock.monotonic() - began_at,
            )
        )

    async def _keep(self, term: Term) -> None:
        """Renew the lease until a renewal fails, and then end the term."""
        pause_seconds = self._settings.retry_seconds
        while not self._standing.rival:
            await self._clock.sleep(min(pause_seconds, self._fence.left_seconds))
            left_seconds = self._fence.left_seconds
            if left_seconds <= 0:
                break
            started_at = self._clock.monotonic()
            await self._try(within_seconds=min(self._try_seconds, left_seconds))
            took_seconds = self._clock.monotonic() - started_at
            pause_seconds = max(0.0, self._settings.retry_seconds - took_seconds)
        self._fence.close()
        rival = self._standing.rival
        term.lose(f"{rival} holds the lease" if rival else "the lease was not renewed in time")
        self._observe(
            LeadershipLost(lease=self._lease, identity=self._settings.identity, reason=term.reason)
        )

    async def _release(self) -> None:
        deadline_at = self._clock.monotonic() + self._settings.retry_seconds
        try:
            for _ in range(ROUNDS):
                if self._standing.must_read:
                    await self._read_lease(deadline_at)
                if not self._standing.is_claimed:
                    return
                observed = self._standing.observed
                record = released_record(observed.record, now_time=self._clock.now())
                try:
                    answer = await self._write_lease(record, observed.version, deadline_at)
                except (Conflict, NotFound):
                    self._standing = replace(self._standing, must_read=True)
                    continue
                self._apply(LeaseRead(observed=answer))
                self._observe(
                    LeadershipReleased(lease=self._lease, identity=self._settings.identity)
                )
                return
        except SteersmanError as error:
            self._failed(error)

    # One attempt

    @property
    def _try_seconds(self) -> float:
        return max(self._settings.retry_seconds, self._settings.renew_seconds / RENEWAL_ATTEMPTS)

    async def _try(self, *, within_seconds: float, must_look: bool = False) -> None:
        """Read the lease if necessary, and acquire or renew it if the rules permit that."""
        self._tried_at = self._clock.monotonic()
        deadline_at = self._tried_at + within_seconds
        try:
            if must_look:
                await self._read_lease(deadline_at)
            for _ in range(ROUNDS):
                if isinstance(self._step(), ReadStep):
                    await self._read_lease(deadline_at)
                step = self._step()
                if not isinstance(step, Claim) or await self._claim(step, deadline_at):
                    return
        except SteersmanError as error:
            self._failed(error)

    def _step(self) -> Step:
        return next_step(
            self._standing,
            settings=self._settings,
            now_at=self._clock.monotonic(),
            now_time=self._clock.now(),
        )

    async def _read_lease(self, deadline_at: float) -> None:
        settings = self._settings
        try:
            lease = await self._until(deadline_at).get(
                coordination_v1.Lease, settings.name, namespace=settings.namespace
            )
        except NotFound:
            self._apply(LeaseRead(observed=ObservedLease()))
        else:
            self._apply(LeaseRead(observed=_observed_lease(lease)))

    async def _claim(self, step: Claim, deadline_at: float) -> bool:
        """Write the record of ``step``; return false if the lease has changed since it was read."""
        was_open = self._fence.is_open
        # Measured before the request is sent.
        sent_at = self._clock.monotonic()
        self._apply(WriteStarted(claim=step.record))
        try:
            observed = await self._write_lease(step.record, step.version, deadline_at)
        except (AlreadyExists, Conflict):
            return False
        except NotFound:
            # The lease was deleted; without a version, the namespace does not exist.
            if not step.version:
                raise
            return False
        self._apply(WriteConfirmed(observed=observed, sent_at=sent_at))
        self._fence.extend_to(self._standing.acting_until_at)
        if was_open:
            self._observe(
                LeadershipRenewed(
                    lease=self._lease,
                    identity=self._settings.identity,
                    took_seconds=self._clock.monotonic() - sent_at,
                )
            )
        return True

    async def _write_lease(self, record: Record, version: str, deadline_at: float) -> ObservedLease:
        """Write ``record`` over this version of the lease, and return the lease after the write."""
        client, settings = self._until(deadline_at), self._settings
        if version:
            patch = MergePatch({"metadata": {"resourceVersion": version}, "spec": _spec(record)})
            lease = await client.patch(
                coordination_v1.Lease, settings.name, patch, namespace=settings.namespace
            )
        else:
            lease = await client.create(_lease(record, settings))
        return _observed_lease(lease)

    def _until(self, deadline_at: float) -> Client:
        left_seconds = deadline_at - self._clock.monotonic()
        # Without time left, the request fails as if it were late.
        return self._client.with_settings(deadline_seconds=max(left_seconds, 0.001))

    def _apply(self, event: LeaseEvent) -> None:
        before = self.holder
        self._standing = advance(
            self._standing, event, settings=self._settings, now_at=self._clock.monotonic()
        )
        if self.holder != before:
            self._observe(
                LeaderChanged(
                    lease=self._lease, holder=self.holder, identity=self._settings.identity
                )
            )

    def _failed(self, error: SteersmanError) -> None:
        self._observe(
            RenewalFailed(
                lease=self._lease,
                identity=self._settings.identity,
                error=error,
                left_seconds=self._fence.left_seconds,
            )
        )


def _observed_lease(lease: coordination_v1.Lease) -> ObservedLease:
    spec = lease.spec or coordination_v1.LeaseSpec()
    record = Record(
        holder=spec.holder_identity or "",
        lease_seconds=spec.lease_duration_seconds,
        acquire_time=spec.acquire_time,
        renew_time=spec.renew_time,
        transitions=spec.lease_transitions or 0,
    )
    return ObservedLease(record=record, version=lease.resource_version)


def _lease(record: Record, settings: LeaseSettings) -> coordination_v1.Lease:
    return coordination_v1.Lease(
        metadata=meta_v1.ObjectMeta(name=settings.name, namespace=settings.namespace),
        spec=coordination_v1.LeaseSpec(
            holder_identity=record.holder,
            lease_duration_seconds=record.lease_seconds,
            acquire_time=MicroTime.of(record.acquire_time) if record.acquire_time else None,
            renew_time=MicroTime.of(record.renew_time) if record.renew_time else None,
            lease_transitions=record.transitions,
        ),
    )


def _spec(record: Record) -> Mapping[str, Any]:
    return {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": record.lease_seconds,
        "acquireTime": format_micro_time(record.acquire_time) if record.acquire_time else None,
        "renewTime": format_micro_time(record.renew_time) if record.renew_time else None,
        "leaseTransitions": record.transitions,
    }
