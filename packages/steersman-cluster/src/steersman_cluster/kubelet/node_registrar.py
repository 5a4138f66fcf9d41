"""The node registrar: it registers nodes, and maintains their status, taints and leases."""

from typing import Final

from steersman.cache import Delta, Lister, background_tasks
from steersman.client import MergePatch
from steersman.errors import AlreadyExists, NotFound, SteersmanError
from steersman.kinds import Codec, coordination_v1, core_v1
from steersman.manager import Runnable, Services
from steersman.units import format_micro_time
from steersman.workqueue import WorkQueue, default_limiter
from steersman_cluster.kubelet.addresses import address_of
from steersman_cluster.kubelet.node_status import (
    LEASES,
    new_lease,
    new_node,
    status,
)
from steersman_cluster.kubelet.pod_worker import is_unresponsive
from steersman_cluster.workloads import WorkloadSettings, is_simulated_node, node_name, node_taints

# Nodes are few and rarely change; this many are registered at once.
WORKERS: Final = 4


def node_registrar(settings: WorkloadSettings) -> Runnable:
    """Return the runnable that registers the simulated nodes, and maintains them afterwards."""

    async def run(services: Services) -> None:
        async with services.caches.informer(core_v1.Node) as nodes, background_tasks() as start:
            registrar = NodeRegistrar(settings, services, nodes.lister)
            nodes.add_handler(registrar.node_changed, name="nodes", inline=True, may_yield=True)
            for number in range(1, WORKERS):
                start(registrar.work(), name=f"nodes/{number}")
            await registrar.work()

    return Runnable(run, name="nodes")


class NodeRegistrar:
    """A worker that processes a queue of node names: it registers and maintains the nodes."""

    def __init__(
        self, settings: WorkloadSettings, services: Services, nodes: Lister[core_v1.Node]
    ) -> None:
        self._settings = settings
        self._client = services.client
        self._caches = services.caches
        self._clock = services.clock
        self._nodes = nodes
        self._wanted = {node_name(number): number for number in range(1, settings.nodes + 1)}
        self._renewed: dict[str, float] = {}
        self._codec = Codec()
        self._queue = WorkQueue[str](
            "nodes",
            limiter=default_limiter(clock=services.clock, rng=services.rng),
            clock=services.clock,
            observe=services.observe,
        )
        for name in self._wanted:
            self._queue.add(name)

    def node_changed(self, delta: Delta[core_v1.Node]) -> None:
        """Enqueue the node to which ``delta`` belongs."""
        self._queue.add(delta.key.name)

    async def work(self) -> None:
        """Process the enqueued nodes one after another, until cancelled."""
        while True:
            async with self._queue.take() as name:
                try:
                    await self._sync_node(name)
                except SteersmanError:
                    self._queue.add_rate_limited(name)
                else:
                    self._queue.forget(name)
            await self._clock.sleep(0)

    async def _sync_node(self, name: str) -> None:
        node = self._nodes.get(name)
        if node is None:
            number = self._wanted.get(name)
            if number is None:
                self._renewed.pop(name, None)
                return
            wanted = new_node(number, self._settings, now=self._clock.now())
            try:
                node = await self._caches.record_write(self._client.create(wanted))
            except AlreadyExists:
                return  # it exists already, and its event is on its way
        if node.deletion_time is None and is_simulated_node(node):
            node = await self._sync_status(node)
            if not is_unresponsive(node):
                await self._heartbeat(node)

    async def _sync_status(self, node: core_v1.Node) -> core_v1.Node:
        now, is_responsive = self._clock.now(), not is_unresponsive(node)
        wanted = status(
            node, self._settings, address=address_of(node), now=now, is_responsive=is_responsive
        )
        if node.status != wanted:
            target = self._client.status(core_v1.Node, node.name)
            patch = MergePatch({"metadata": {"uid": node.uid}, "status": wanted})
            node = await self._caches.record_write(target.patch(patch))
        wanted_taints = node_taints(node, now=now, is_responsive=is_responsive)
        if wanted_taints != ((node.spec.taints if node.spec is not None else None) or ()):
            body = {"metadata": {"uid": node.uid}, "spec": {"taints": wanted_taints or None}}
            write = self._client.patch(core_v1.Node, node.name, MergePatch(body))
            node = await self._caches.record_write(write)
        return node

    async def _heartbeat(self, node: core_v1.Node) -> None:
        every_seconds = self._settings.heartbeat_seconds
        if every_seconds is None:
            return
        now_at = self._clock.monotonic()
        left_seconds = self._renewed.get(node.name, float("-inf")) + every_seconds - now_at
        if left_seconds <= 0:
            await self._renew_lease(node)
            self._renewed[node.name] = now_at
            left_seconds = every_seconds
        self._queue.add_after(node.name, left_seconds)

    async def _renew_lease(self, node: core_v1.Node) -> None:
        now = self._clock.now()
        patch = MergePatch({"spec": {"renewTime": format_micro_time(now)}})
        try:
            await self._client.patch(coordination_v1.Lease, node.name, patch, namespace=LEASES)
        except NotFound:
            await self._client.create(new_lease(node, now=now))
