"""The end of namespaces: emptied, told about, and let go."""

import asyncio
from typing import Any, Final

from steersman.cache import Deleted, Delta, Start, in_background
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
from steersman_cluster.errors import NamespaceHeld
from steersman_cluster.workloads.namespaces.conditions import Findings, conditions_after
from steersman_cluster.workloads.namespaces.resources_deleter import empty, is_as_found

NAME: Final = "namespace-controller"

#: What holds a namespace until it is empty.
FINALIZER: Final = "kubernetes"

# Of several API servers, the last may not know yet that nothing more may be created there; what it
# lets in meanwhile is to be found. The number is Kubernetes' own.
GRACE_SECONDS: Final = 5.0

# People wait for this: it is tried at least once a minute.
LONGEST_SECONDS: Final = 60.0

# Each empties one namespace at a time.
WORKERS: Final = 3

_NAMESPACE: Final = Unstructured.of("v1", "Namespace", namespaced=False)


async def end_namespaces(services: Services) -> None:
    """End namespaces whose deletion is asked for, until cancelled."""
    async with (
        in_background() as start,
        services.caches.informer(core_v1.Namespace) as informer,
    ):
        told = informer.add_handler(_Ending(services, start).handle, name=NAME, inline=True)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            informer.remove_handler(told)


class _Ending:
    def __init__(self, services: Services, start: Start) -> None:
        self._client = services.client
        self._clock = services.clock
        self._observe = services.observe
        self._start = start
        self._is_at_work = False
        self._found: dict[str, Findings] = {}  # what finalizers held when it was last looked for
        self._limiter = MaxOf[str](
            KeyBackoff(BackoffPolicy(longest_seconds=LONGEST_SECONDS), rng=services.rng),
            TokenBucket(BucketPolicy(), clock=services.clock),
        )
        self._queue = WorkQueue[str](
            NAME,
            limiter=self._limiter,
            clock=services.clock,
            observe=services.observe,
        )

    def handle(self, delta: Delta[core_v1.Namespace]) -> None:
        """Have a namespace looked at soon whose deletion was asked for."""
        if isinstance(delta, Deleted):
            self._found.pop(delta.obj.name, None)
            return
        if delta.obj.metadata.deletion_timestamp is None:
            return
        self._queue.add_after(delta.obj.name, GRACE_SECONDS)
        self._finished(delta.obj.name, after_seconds=GRACE_SECONDS)
        if not self._is_at_work:
            self._is_at_work = True
            for number in range(WORKERS):
                self._start(self._work(), name=f"{NAME}/{number}")

    async def _work(self) -> None:
        queue = self._queue
        while True:
            async with queue.take() as name:
                try:
                    wait_seconds = await self._end(name)
                except NamespaceHeld:
                    # No failure of ours: its conditions say what somebody else has to do.
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
        # A finalizer that nobody takes away costs no more than a question now and then.
        if found is None or not await is_as_found(self._client, name, found):
            found = await end(self._client, name)
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


async def end(client: Client, name: str) -> Findings | None:
    """Bring a namespace nearer to its end; what is left in it, if it is still there.

    ``NamespaceHeld`` if something in it cannot be deleted, or not even be found.
    """
    try:
        namespace = await client.get(_NAMESPACE, name)
        if namespace.deletion_time is None or not _finalizers(namespace):
            return None
        findings = await empty(client, name, deletion_time=namespace.deletion_time)
        namespace = await _tell(client, namespace, findings)
        if findings.has_failed:
            raise NamespaceHeld(namespace=name, problems=(*findings.stale, *findings.failures))
        if not findings.estimate_seconds:
            await _let_go(client, namespace)
    except NotFound:
        return None  # Somebody else was quicker.
    return findings


async def _tell(client: Client, namespace: Unstructured, findings: Findings) -> Unstructured:
    """Write down what was found, if it was not known; the namespace as it is then."""
    before: list[dict[str, Any]] = namespace.get("status", "conditions", default=[])
    after = conditions_after(before, findings, now=format_time(client.clock.now()))
    if after == before:
        return namespace
    version = {"resourceVersion": namespace.resource_version, "uid": namespace.uid}
    patch = MergePatch({"metadata": version, "status": {"conditions": after}})
    try:
        return await client.status(_NAMESPACE, namespace.name).patch(patch)
    except Conflict:
        return namespace  # It will be told the next time; its end is not held up by that.


async def _let_go(client: Client, namespace: Unstructured) -> None:
    """Take away what held a namespace until it was empty."""
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
