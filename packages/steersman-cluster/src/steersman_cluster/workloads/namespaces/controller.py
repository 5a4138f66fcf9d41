"""The namespace controller: it deletes the content of a namespace, then the namespace."""

import asyncio
from typing import Any, Final

from steersman.cache import Deleted, Delta, Start, background_tasks
from steersman.client import Client, MergePatch
from steersman.errors import Conflict, NotFound, SteersmanError
from steersman.kinds import Unstructured, core_v1
from steersman.manager import Services
from steersman.names import ObjectRef
from steersman.observe import ReconcileFinished
from steersman.units import format_time
from steersman.workqueue import (
    BackoffPolicy,
    BucketPolicy,
    KeyBackoff,
    MaxOf,
    TokenBucket,
    WorkQueue,
)
from steersman_cluster.errors import NamespaceDeletionFailed
from steersman_cluster.workloads.namespaces.conditions import Findings, conditions_after
from steersman_cluster.workloads.namespaces.resources_deleter import delete_all, is_unchanged

NAME: Final = "namespace-controller"

#: The finalizer of a namespace with content.
FINALIZER: Final = "kubernetes"

# With several API servers, one may not know yet that the namespace is being deleted, and may still
# create objects in it. The wait is Kubernetes' own.
GRACE_SECONDS: Final = 5.0

# Users wait for deletions: the wait between two attempts is at most a minute.
MAX_SECONDS: Final = 60.0

# Each worker deletes the content of one namespace at a time.
WORKERS: Final = 3

_NAMESPACE: Final = Unstructured.of("v1", "Namespace", namespaced=False)


async def delete_namespaces(services: Services) -> None:
    """Delete the content of each namespace that is being deleted, until cancelled."""
    async with (
        background_tasks() as start,
        services.caches.informer(core_v1.Namespace) as informer,
    ):
        registration = informer.add_handler(
            NamespaceController(services, start).handle, name=NAME, inline=True
        )
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            informer.remove_handler(registration)


class NamespaceController:
    def __init__(self, services: Services, start: Start) -> None:
        self._client = services.client
        self._clock = services.clock
        self._observe = services.observe
        self._start = start
        self._is_working = False
        self._found: dict[str, Findings] = {}  # objects with finalizers at the last attempt
        self._limiter = MaxOf[str](
            KeyBackoff(BackoffPolicy(max_seconds=MAX_SECONDS), rng=services.rng),
            TokenBucket(BucketPolicy(), clock=services.clock),
        )
        self._queue = WorkQueue[str](
            NAME,
            limiter=self._limiter,
            clock=services.clock,
            observe=services.observe,
        )

    def handle(self, delta: Delta[core_v1.Namespace]) -> None:
        """Enqueue the namespace in ``delta`` if it is being deleted."""
        if isinstance(delta, Deleted):
            self._found.pop(delta.obj.name, None)
            return
        if delta.obj.metadata.deletion_timestamp is None:
            return
        self._queue.add_after(delta.obj.name, GRACE_SECONDS)
        self._finished(delta.obj.name, after_seconds=GRACE_SECONDS)
        if not self._is_working:
            self._is_working = True
            for number in range(WORKERS):
                self._start(self._work(), name=f"{NAME}/{number}")

    async def _work(self) -> None:
        queue = self._queue
        while True:
            async with queue.take() as name:
                try:
                    wait_seconds = await self._end(name)
                except NamespaceDeletionFailed:
                    # Not a failure of the controller: the conditions say what blocks the deletion.
                    wait_seconds = self._limiter.wait_seconds(name)
                except SteersmanError as error:
                    queue.add_rate_limited(name)
                    self._finished(name, error=error)
                    continue
                else:
                    queue.forget(name)
                if wait_seconds is not None:
                    queue.add_after(name, wait_seconds)
                self._finished(name, after_seconds=wait_seconds)

    async def _end(self, name: str) -> float | None:
        found = self._found.get(name)
        # Waiting for a finalizer costs one request now and then.
        if found is None or not await is_unchanged(self._client, name, found):
            found = await delete_content(self._client, name)
        if found is None or not found.estimate_seconds:
            self._found.pop(name, None)
            return None
        self._found[name] = found
        return found.estimate_seconds // 2 + 1.0

    def _finished(
        self, name: str, *, after_seconds: float | None = None, error: Exception | None = None
    ) -> None:
        outcome = "done" if after_seconds is None else "later"
        self._observe(
            ReconcileFinished(
                controller=NAME,
                ref=ObjectRef("Namespace", None, name),
                outcome=outcome if error is None else "failed",
                took_seconds=0.0,
                queued_seconds=0.0,
                failures=self._queue.num_requeues(name),
                after_seconds=after_seconds,
                error=error,
            )
        )


async def delete_content(client: Client, name: str) -> Findings | None:
    """Delete the content of the namespace ``name``, and then the namespace.

    Return what is left of the namespace, or ``None`` if it is deleted. Raise
    ``NamespaceDeletionFailed`` if a kind cannot be deleted or listed.
    """
    try:
        namespace = await client.get(_NAMESPACE, name)
        if namespace.deletion_time is None or not _finalizers(namespace):
            return None
        findings = await delete_all(client, name, deletion_time=namespace.deletion_time)
        namespace = await _write_conditions(client, namespace, findings)
        if findings.has_failed:
            raise NamespaceDeletionFailed(
                namespace=name, problems=(*findings.stale, *findings.failures)
            )
        if not findings.estimate_seconds:
            await _remove_finalizer(client, namespace)
    except NotFound:
        return None  # Another client has deleted it.
    return findings


async def _write_conditions(
    client: Client, namespace: Unstructured, findings: Findings
) -> Unstructured:
    """Write the findings to the conditions, and return the updated namespace."""
    before: list[dict[str, Any]] = namespace.get("status", "conditions", default=[])
    after = conditions_after(before, findings, now=format_time(client.clock.now()))
    if after == before:
        return namespace
    version = {"resourceVersion": namespace.resource_version, "uid": namespace.uid}
    patch = MergePatch({"metadata": version, "status": {"conditions": after}})
    try:
        return await client.status(_NAMESPACE, namespace.name).patch(patch)
    except Conflict:
        return namespace  # The conditions are written with the next attempt; the deletion goes on.


async def _remove_finalizer(client: Client, namespace: Unstructured) -> None:
    """Remove the finalizer of an empty namespace."""
    while FINALIZER in _finalizers(namespace):
        left = [each for each in _finalizers(namespace) if each != FINALIZER]
        finalize = client.subresource(_NAMESPACE, namespace.name, "finalize", of=_NAMESPACE)
        try:
            await finalize.update(namespace.changed("spec", "finalizers", to=left))
        except Conflict:
            latest = await client.get(_NAMESPACE, namespace.name)
            if latest.uid != namespace.uid:
                return
            namespace = latest
        else:
            return


def _finalizers(namespace: Unstructured) -> list[str]:
    found: list[str] | None = namespace.get("spec", "finalizers")
    return found or []
