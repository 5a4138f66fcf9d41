"""The resource quota controller, which writes the usage of quotas to their status.

A kind is watched only while a quota counts it. The server charges a quota when it admits an object,
and the event of the quota can come before or after the event of the object. The controller
therefore delays an increase until both have arrived; mostly, no write is needed then. The server
does not charge a decrease, so the controller writes it immediately. A status is written with the
resource version from which it was computed. If the server has charged the quota in the meantime,
the write fails with a conflict, and the charge is preserved.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Final

from steersman.cache import Deleted, Delta, Informer, Start, Sync, Updated, background_tasks
from steersman.client import MergePatch
from steersman.errors import Conflict, NotFound, SteersmanError
from steersman.kinds import core_v1
from steersman.manager import Services
from steersman.names import GroupResource, ObjectKey, ObjectRef
from steersman.observe import ReconcileFinished
from steersman.units import Quantity
from steersman.workqueue import WorkQueue, default_limiter
from steersman_cluster.workloads.quotas.counted_kinds import CountedKinds
from steersman_cluster.workloads.quotas.quota_usage import QuotaUsage
from steersman_cluster.workloads.status_writer import merge_difference

Quota = core_v1.ResourceQuota

NAME: Final = "resourcequota-controller"

# Longer than the events of one write are apart, and too short to be noticed.
CHARGE_SECONDS: Final = 0.1

# How long until discovery is repeated for a kind that a quota counts and the server does not serve.
# Kubernetes repeats it as often.
REDISCOVERY_SECONDS: Final = 30.0


async def run(services: Services) -> None:
    """Maintain the status of all quotas, until cancelled."""
    async with background_tasks() as start, services.caches.informer(Quota) as quotas:
        await QuotaController(services, quotas, start=start).run()


class QuotaController:
    """A controller for all ResourceQuotas of the cluster, with the usage of each quota."""

    def __init__(self, services: Services, quotas: Informer[Quota], *, start: Start) -> None:
        self._services = services
        self._clock = services.clock
        self._quotas = quotas
        self._kinds = CountedKinds(services.client, services.caches)
        self._start = start
        self._usages: dict[str, dict[ObjectKey, QuotaUsage]] = {}  # by namespace
        self._watched: dict[GroupResource, _Watched] = {}
        self._counting: dict[GroupResource, int] = {}  # the number of quotas that count it
        self._sought_at: dict[GroupResource, float] = {}
        self._queue = WorkQueue[ObjectKey](
            NAME,
            limiter=default_limiter(clock=services.clock, rng=services.rng),
            clock=services.clock,
            observe=services.observe,
        )

    def __repr__(self) -> str:
        count = sum(map(len, self._usages.values()))
        return f"<Quotas {count}, {len(self._watched)} kinds followed>"

    async def run(self) -> None:
        """Update the status of quotas after changes of quotas or counted objects."""
        registration = self._quotas.add_handler(self._quota_changed, name=NAME)
        try:
            while True:
                async with self._queue.take() as key:
                    await self._sync(key)
        finally:
            self._quotas.remove_handler(registration)

    # Events

    def _quota_changed(self, delta: Delta[Quota]) -> None:
        is_own_doing = isinstance(delta, Updated) and _hard(delta.old) == _hard(delta.obj)
        if is_own_doing:
            self._queue.add_after(delta.key, CHARGE_SECONDS)
        else:
            self._queue.add(delta.key)

    def _handler(self, resource: GroupResource) -> "Callable[[Delta[Any]], None]":
        def handle(delta: Delta[Any]) -> None:
            if isinstance(delta, Sync):
                return
            usages = self._usages.get(delta.key.namespace or "")
            if not usages:
                return
            for quota, quota_usage in usages.items():
                if isinstance(delta, Deleted):
                    change = quota_usage.remove(resource, delta.key)
                else:
                    change = quota_usage.put(resource, delta.key, delta.obj, self._clock.now())
                if change < 0:
                    self._queue.add(quota)
                elif change > 0:
                    self._queue.add_after(quota, CHARGE_SECONDS)

        return handle

    # Work

    async def _sync(self, key: ObjectKey) -> None:
        started_at = self._clock.monotonic()
        error: Exception | None = None
        try:
            await self._update_status(key)
        except (Conflict, NotFound):
            pass  # the event of the conflicting write enqueues it again
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

    async def _update_status(self, key: ObjectKey) -> None:
        quota = self._quotas.lister.get(key.name, namespace=key.namespace)
        if quota is None or quota.spec is None:
            self._close_usage(key)
            return
        quota_usage = self._usages.get(key.namespace or "", {}).get(key)
        if (
            quota_usage is None
            or quota_usage.spec != quota.spec
            or self._rediscovery_seconds(quota_usage) <= 0
        ):
            quota_usage = await self._open_usage(key, quota.spec)
        waits = (quota_usage.release(self._clock.now()), self._rediscovery_seconds(quota_usage))
        change = _difference(quota, quota_usage.used(self._watched))
        if change:
            version = {"uid": quota.uid, "resourceVersion": quota.resource_version}
            patch = MergePatch({"metadata": version, "status": change})
            status = self._services.client.status(Quota, key.name, namespace=key.namespace)
            await self._services.caches.record_write(status.patch(patch, field_manager=NAME))
        next_seconds = min(each for each in waits if each is not None)
        if next_seconds < inf:
            self._queue.add_after(key, next_seconds)

    # Counted kinds

    def _rediscovery_seconds(self, quota_usage: QuotaUsage) -> float:
        """Return the delay until discovery is repeated for a kind that is counted but not served.

        Discovery is not repeated at each change, because discovery and recounting cost more than
        processing the change.
        """
        now_at = self._clock.monotonic()
        missing = [kind for kind in quota_usage.kinds if kind not in self._watched]
        searches = [self._sought_at.get(kind, -inf) + REDISCOVERY_SECONDS for kind in missing]
        return min(searches, default=inf) - now_at

    async def _open_usage(self, key: ObjectKey, spec: core_v1.ResourceQuotaSpec) -> QuotaUsage:
        """Return the usage of a quota, counted from all objects; later changes of objects update
        the result.
        """
        quota_usage = QuotaUsage(spec)
        for kind in quota_usage.kinds:
            if kind not in self._watched:
                await self._watch(kind)
        now = self._clock.now()
        for kind in quota_usage.kinds:
            followed = self._watched.get(kind)
            if followed is not None:
                for obj in followed.informer.lister.list(namespace=key.namespace):
                    quota_usage.put(kind, ObjectKey(obj.namespace, obj.name), obj, now)
        for kind in quota_usage.kinds:
            self._counting[kind] = self._counting.get(kind, 0) + 1
        self._close_usage(key)
        self._usages.setdefault(key.namespace or "", {})[key] = quota_usage
        return quota_usage

    def _close_usage(self, key: ObjectKey) -> None:
        """Drop the usage of a quota, and stop watching kinds that no other quota counts."""
        usages = self._usages.get(key.namespace or "", {})
        closed = usages.pop(key, None)
        if not usages:
            self._usages.pop(key.namespace or "", None)
        for kind in closed.kinds if closed is not None else ():
            self._counting[kind] -= 1
            if not self._counting[kind]:
                del self._counting[kind]
                self._sought_at.pop(kind, None)
                followed = self._watched.pop(kind, None)
                if followed is not None:
                    followed.end.set_result(None)

    async def _watch(self, resource: GroupResource) -> None:
        self._sought_at[resource] = self._clock.monotonic()
        kind = await self._kinds.find(resource)
        if kind is None:
            return
        is_whole = asyncio.Event()
        task = self._start(
            self._watching(resource, kind, is_whole), name=f"what quotas count of {resource}"
        )
        try:
            async with self._clock.timeout(REDISCOVERY_SECONDS):
                await is_whole.wait()
        except TimeoutError:
            task.cancel()
            self._kinds.forget()  # the kind may have been removed

    async def _watching(
        self, resource: GroupResource, kind: type[Any], is_whole: asyncio.Event
    ) -> None:
        informer: Informer[Any]
        async with self._services.caches.informer(kind) as informer:
            registration = informer.add_handler(self._handler(resource), name=NAME, inline=True)
            end = asyncio.get_running_loop().create_future()
            self._watched[resource] = _Watched(informer=informer, end=end)
            is_whole.set()
            try:
                await end
            finally:
                informer.remove_handler(registration)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watched:
    informer: Informer[Any]
    end: asyncio.Future[None]


def _hard(quota: Quota) -> Mapping[str, Quantity]:
    return (quota.spec.hard if quota.spec is not None else None) or {}


def _difference(quota: Quota, used: Mapping[str, Quantity]) -> dict[str, Any]:
    """Return the change of the status; empty if the status is up to date."""
    hard, status = _hard(quota), quota.status or core_v1.ResourceQuotaStatus()
    known = status.used or {}
    # What cannot be counted keeps its last value.
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
