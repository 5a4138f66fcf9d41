"""Quotas at work: what their objects use is counted as it changes, and said in their status.

Objects of a kind are followed only while a quota counts them. The server charges a quota when an
object is made, and that news may come before or after the object's own. So what makes more used is
looked at a moment later, when both have come, and mostly there is nothing to be said; only what
makes less used, which the server leaves to us, is said at once. A status is written onto the
version that it was worked out from: what was charged in the meantime stays charged.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Final

from steersman.cache import Deleted, Delta, Informer, Start, Sync, Updated, in_background
from steersman.client import MergePatch
from steersman.errors import Conflict, NotFound, SteersmanError
from steersman.kinds import core_v1
from steersman.manager import Services
from steersman.names import GroupResource, ObjectKey, ObjectRef
from steersman.observe import ReconcileFinished
from steersman.units import Quantity
from steersman.workqueue import WorkQueue, default_limiter
from steersman_cluster.workloads.quotas.counted_kinds import CountedKinds
from steersman_cluster.workloads.quotas.quota_usage import Ledger
from steersman_cluster.workloads.status_writer import merge_difference

Quota = core_v1.ResourceQuota

NAME: Final = "resourcequota-controller"

# Longer than two pieces of news of one write are apart; short enough that nobody notices.
APART_SECONDS: Final = 0.1

# How soon the server may have begun to serve a kind that a quota counts and nobody knows. As often
# as Kubernetes asks.
UNKNOWN_SECONDS: Final = 30.0


async def run(services: Services) -> None:
    """Keep the status of all quotas, until cancelled."""
    async with in_background() as start, services.caches.informer(Quota) as quotas:
        await Quotas(services, quotas, start=start).run()


class Quotas:
    """All quotas of the cluster, and what is counted for each."""

    def __init__(self, services: Services, quotas: Informer[Quota], *, start: Start) -> None:
        self._services = services
        self._clock = services.clock
        self._quotas = quotas
        self._kinds = CountedKinds(services.client, services.caches)
        self._start = start
        self._ledgers: dict[str, dict[ObjectKey, Ledger]] = {}  # by namespace
        self._followed: dict[GroupResource, _Followed] = {}
        self._counting: dict[GroupResource, int] = {}  # how many quotas count them
        self._sought_at: dict[GroupResource, float] = {}
        self._queue = WorkQueue[ObjectKey](
            NAME,
            limiter=default_limiter(clock=services.clock, rng=services.rng),
            clock=services.clock,
            observe=services.observe,
        )

    def __repr__(self) -> str:
        count = sum(map(len, self._ledgers.values()))
        return f"<Quotas {count}, {len(self._followed)} kinds followed>"

    async def run(self) -> None:
        """Look at quotas as they and their objects change."""
        told = self._quotas.add_handler(self._quota_changed, name=NAME)
        try:
            while True:
                async with self._queue.take() as key:
                    await self._look_at(key)
        finally:
            self._quotas.remove_handler(told)

    # What wakes it

    def _quota_changed(self, delta: Delta[Quota]) -> None:
        is_own_doing = isinstance(delta, Updated) and _hard(delta.old) == _hard(delta.obj)
        if is_own_doing:
            self._queue.add_after(delta.key, APART_SECONDS)
        else:
            self._queue.add(delta.key)

    def _handler(self, resource: GroupResource) -> "Callable[[Delta[Any]], None]":
        def handle(delta: Delta[Any]) -> None:
            if isinstance(delta, Sync):
                return
            ledgers = self._ledgers.get(delta.key.namespace or "")
            if not ledgers:
                return
            for quota, ledger in ledgers.items():
                if isinstance(delta, Deleted):
                    change = ledger.remove(resource, delta.key)
                else:
                    change = ledger.put(resource, delta.key, delta.obj, self._clock.now())
                if change < 0:
                    self._queue.add(quota)
                elif change > 0:
                    self._queue.add_after(quota, APART_SECONDS)

        return handle

    # Work

    async def _look_at(self, key: ObjectKey) -> None:
        started_at = self._clock.monotonic()
        error: Exception | None = None
        try:
            await self._bring_up_to_date(key)
        except (Conflict, NotFound):
            pass  # whoever wrote before us wakes us
        except SteersmanError as caught:
            error = caught
            self._queue.add_rate_limited(key)
        else:
            self._queue.forget(key)
        self._services.observe(
            ReconcileFinished(
                controller=NAME,
                ref=ObjectRef("ResourceQuota", key.namespace, key.name),
                outcome="done" if error is None else "failed",
                took_seconds=self._clock.monotonic() - started_at,
                queued_seconds=0.0,
                failures=self._queue.num_requeues(key),
                error=error,
            )
        )

    async def _bring_up_to_date(self, key: ObjectKey) -> None:
        quota = self._quotas.lister.get(key.name, namespace=key.namespace)
        if quota is None or quota.spec is None:
            self._close(key)
            return
        ledger = self._ledgers.get(key.namespace or "", {}).get(key)
        if ledger is None or ledger.spec != quota.spec or self._next_search(ledger) <= 0:
            ledger = await self._opened(key, quota.spec)
        waits = (ledger.release(self._clock.now()), self._next_search(ledger))
        change = _difference(quota, ledger.used(self._followed))
        if change:
            version = {"uid": quota.uid, "resourceVersion": quota.resource_version}
            patch = MergePatch({"metadata": version, "status": change})
            status = self._services.client.status(Quota, key.name, namespace=key.namespace)
            await self._services.caches.record_write(status.patch(patch, field_manager=NAME))
        next_seconds = min(each for each in waits if each is not None)
        if next_seconds < inf:
            self._queue.add_after(key, next_seconds)

    # What is counted

    def _next_search(self, ledger: Ledger) -> float:
        """In how many seconds to look for a kind that it counts and nobody serves, if there is one.

        Not at each change: to ask, and to count anew, costs more than that.
        """
        now_at = self._clock.monotonic()
        missing = [user for user in ledger.users if user not in self._followed]
        searches = [self._sought_at.get(user, -inf) + UNKNOWN_SECONDS for user in missing]
        return min(searches, default=inf) - now_at

    async def _opened(self, key: ObjectKey, spec: core_v1.ResourceQuotaSpec) -> Ledger:
        """A new ledger with all that is there; from then on it hears of each change."""
        ledger = Ledger(spec)
        for user in ledger.users:
            if user not in self._followed:
                await self._follow(user)
        now = self._clock.now()
        for user in ledger.users:
            followed = self._followed.get(user)
            if followed is not None:
                for obj in followed.informer.lister.list(namespace=key.namespace):
                    ledger.put(user, ObjectKey(obj.namespace, obj.name), obj, now)
        for user in ledger.users:
            self._counting[user] = self._counting.get(user, 0) + 1
        self._close(key)
        self._ledgers.setdefault(key.namespace or "", {})[key] = ledger
        return ledger

    def _close(self, key: ObjectKey) -> None:
        """Keep no ledger of this quota, and follow no more what no other one counts."""
        ledgers = self._ledgers.get(key.namespace or "", {})
        closed = ledgers.pop(key, None)
        if not ledgers:
            self._ledgers.pop(key.namespace or "", None)
        for user in closed.users if closed is not None else ():
            self._counting[user] -= 1
            if not self._counting[user]:
                del self._counting[user]
                self._sought_at.pop(user, None)
                followed = self._followed.pop(user, None)
                if followed is not None:
                    followed.end.set_result(None)

    async def _follow(self, resource: GroupResource) -> None:
        self._sought_at[resource] = self._clock.monotonic()
        kind = await self._kinds.find(resource)
        if kind is None:
            return
        is_whole = asyncio.Event()
        task = self._start(
            self._following(resource, kind, is_whole), name=f"what quotas count of {resource}"
        )
        try:
            async with self._clock.timeout(UNKNOWN_SECONDS):
                await is_whole.wait()
        except TimeoutError:
            task.cancel()
            self._kinds.forget()  # it may be that it was served, and is no more

    async def _following(
        self, resource: GroupResource, kind: type[Any], is_whole: asyncio.Event
    ) -> None:
        informer: Informer[Any]
        async with self._services.caches.informer(kind) as informer:
            told = informer.add_handler(self._handler(resource), name=NAME, inline=True)
            end = asyncio.get_running_loop().create_future()
            self._followed[resource] = _Followed(informer=informer, end=end)
            is_whole.set()
            try:
                await end
            finally:
                informer.remove_handler(told)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Followed:
    informer: Informer[Any]
    end: asyncio.Future[None]


def _hard(quota: Quota) -> Mapping[str, Quantity]:
    return (quota.spec.hard if quota.spec is not None else None) or {}


def _difference(quota: Quota, used: Mapping[str, Quantity]) -> dict[str, Any]:
    """What to change in its status so that it says what is used; nothing if it does."""
    hard, status = _hard(quota), quota.status or core_v1.ResourceQuotaStatus()
    known = status.used or {}
    # Of what nobody can count, that which was said last.
    now_used = {name: used.get(name, known.get(name)) for name in hard}
    after = {name: amount for name, amount in now_used.items() if amount is not None}
    change: dict[str, Any] = {}
    if dict(status.hard or {}) != dict(hard):
        change["hard"] = merge_difference(_texts(status.hard or {}), _texts(hard))
    if dict(known) != after:
        change["used"] = merge_difference(_texts(known), _texts(after))
    return change


def _texts(amounts: Mapping[str, Quantity]) -> dict[str, str]:
    return {name: amount.canonical() for name, amount in amounts.items()}
