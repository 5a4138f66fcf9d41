"""A cluster with many AppServices, their operator, and faults for both."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import islice
from pathlib import Path

from opdemo.appservice import AppService, Spec
from opdemo.webservice import WebService

from steersman.cli import install_crds
from steersman.client import Client, MergePatch
from steersman.clock import SystemClock
from steersman.errors import SteersmanError
from steersman.kinds import Resource, apps_v1, coordination_v1, core_v1, meta_v1
from steersman.manifests import crd_of
from steersman.observe import ignore
from steersman_cluster.testing import RealControlPlane, find_binaries, running_real_control_plane
from steersman_cluster.testing.control_plane.sandbox import Sandbox, open_sandbox, tail
from tests.real.clients import connected
from tests.real.convergence.audit_log import AuditLog, Following, Written
from tests.real.convergence.checks import Sight, flaws

ROOT = Path(__file__).parents[3]
NAMESPACE = "apps"
AGENT = "operator-under-test"
FIRST_IMAGE = "example.com/app:1"

# The controllers of Deployments, and garbage collection.
CONTROLLERS = ("deployment-controller", "replicaset-controller", "garbage-collector-controller")

# With the default of 20 requests a second, all clients would wait for minutes.
QUICK = {"kube-api-qps": 10_000, "kube-api-burst": 10_000}

# Longer than the pauses of a busy machine, so that no leader loses its lease by accident.
LEASE = {"lease-seconds": 30, "renew-seconds": 20, "retry-seconds": 5}

# An unexpected error, a hot loop, and a field conflict.
COMPLAINTS = ("Traceback", "triggers itself", "keeps changing")

HANDS = 20
CONVERGED_WITHIN_SECONDS = 240.0
QUIET_SECONDS = 1.0
WATCHED_SECONDS = 5.0
STOPPED_WITHIN_SECONDS = 30.0


class OperatorCluster:
    """A cluster, the operator under test, and the desired specs of the AppServices."""

    def __init__(self, plane: RealControlPlane, audit: AuditLog, inside: Sandbox) -> None:
        self.plane = plane
        self.audit = audit
        self.wanted: dict[str, Spec] = {}
        self.at_rest: Sight | None = None
        self._shift = 0
        self._inside = inside
        self._log = inside.directory / "operator.log"
        self._operator: subprocess.Popen[bytes] | None = None

    # The operator

    def start_operator(self) -> None:
        """Start ``examples/appservice`` in a new process."""
        flags = {
            "kubeconfig": self.plane.kubeconfig,
            "lease-namespace": NAMESPACE,
            "health-address": "",
            "metrics-address": "",
            "user-agent": AGENT,
            "log-level": "warning",
            **LEASE,
        }
        arguments = [f"--{name}={value}" for name, value in flags.items()]
        self._operator = self._inside.start(
            [sys.executable, "-m", "opdemo", *arguments],
            log=self._log,
            environ={"HOME": str(self._inside.directory), "PYTHONPATH": str(ROOT)},
        )

    def ensure_operator(self) -> None:
        """Start the operator if it does not run."""
        if not self.is_operating:
            self.start_operator()

    @property
    def is_operating(self) -> bool:
        """Whether the operator's process runs."""
        return self._operator is not None and self._operator.poll() is None

    def stop_operator(self) -> None:
        """Stop the operator with SIGTERM, and check that it exits with 0."""
        assert self._operator is not None
        self._operator.terminate()
        assert self._operator.wait(timeout=STOPPED_WITHIN_SECONDS) == 0, self.operator_log
        self._operator = None

    def kill_operator(self) -> None:
        """Stop the operator with SIGKILL."""
        assert self._operator is not None
        self._operator.kill()
        self._operator.wait()
        self._operator = None

    async def shorten_lease(self, client: Client) -> None:
        """Shorten the lease of a killed leader, so that the next one acquires it sooner."""
        (lease,) = (await client.list(coordination_v1.Lease, namespace=NAMESPACE)).items
        patch = MergePatch({"spec": {"leaseDurationSeconds": 1}})
        await client.patch(coordination_v1.Lease, lease.name, patch, namespace=NAMESPACE)

    @property
    def operator_log(self) -> str:
        """The last lines of the operator's log."""
        return tail(self._log, lines=30)

    @property
    def complaints(self) -> list[str]:
        """Log lines that no fault explains."""
        lines = self._log.read_text(errors="replace").splitlines()
        return [line for line in lines if any(words in line for words in COMPLAINTS)]

    def crash_api_server(self) -> None:
        """Kill and restart the API server; in a thread, because that takes seconds."""
        with self.plane.api_server.crashed():
            pass

    # The current state

    async def set_up(self) -> None:
        """Install the definition, and create the namespace of the AppServices."""
        async with self.client() as client:
            await client.create(core_v1.Namespace(metadata=meta_v1.ObjectMeta(name=NAMESPACE)))
            await install_crds(client, [crd_of(each) for each in (AppService, WebService)])

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """A client of the cluster."""
        async with connected(self.plane, observe=ignore) as client:
            yield client

    async def look(self, client: Client) -> Sight:
        """The current state of all objects."""
        apps = await client.list(AppService, namespace=NAMESPACE)
        deployments = await client.list(apps_v1.Deployment, namespace=NAMESPACE)
        services = await client.list(core_v1.Service, namespace=NAMESPACE)
        return Sight(apps=apps.items, deployments=deployments.items, services=services.items)

    async def until_written(self, number: int, resource: str, *, log: Following) -> None:
        """Wait until the operator has written this many objects since the start of ``log``."""
        clock = SystemClock()
        async with clock.timeout(CONVERGED_WITHIN_SECONDS):
            while len(accepted(log, resource)) < number:
                await clock.sleep(0.02)
                log.read()

    async def converged(self, client: Client) -> Sight:
        """Return when everything is correct and no client writes any more.

        Then check for some seconds that no client writes anything.
        """

        clock = SystemClock()
        log = self.audit.follow()
        ends_at = clock.monotonic() + CONVERGED_WITHIN_SECONDS
        while found := await self._flaws(client, log):
            assert clock.monotonic() < ends_at, "\n".join([*found, self.operator_log])
            assert self.is_operating, self.operator_log
        before = await self.look(client)
        await clock.sleep(WATCHED_SECONDS)
        after = await self.look(client)
        assert list(log.read()) == []
        assert after.versions == before.versions
        assert self.complaints == []
        self.at_rest = after
        return after

    async def _flaws(self, client: Client, log: Following) -> list[str]:
        """Some of the current deviations, or the clients that still write."""
        await client.clock.sleep(QUIET_SECONDS)
        if new := log.read():
            # A list of all objects is expensive for the server, so it waits until the others are
            # done.
            return [f"{len(new)} writes within a second, the last of {new[-1]}"]
        found = list(islice(flaws(await self.look(client), wanted=self.wanted), 10))
        return found or [f"a last {each}" for each in log.read()]

    # The desired state

    async def create(self, client: Client, names: Sequence[str]) -> None:
        """Create AppServices with these names."""
        for number, name in enumerate(names):
            self.wanted[name] = spec_of(number, image=FIRST_IMAGE)

        async def create(name: str) -> None:
            meta = meta_v1.ObjectMeta(name=name, namespace=NAMESPACE)
            await client.create(AppService(metadata=meta, spec=self.wanted[name]))

        await self._all(names, create)

    async def delete(self, client: Client, names: Sequence[str]) -> None:
        """Delete these AppServices."""
        for name in names:
            del self.wanted[name]
        await self._all(names, lambda name: client.delete(AppService, name, namespace=NAMESPACE))

    async def change(self, client: Client, *, image: str) -> None:
        """Set another image and other sizes on all AppServices, even during an outage."""
        self._shift += 1
        for number, name in enumerate(self.wanted):
            self.wanted[name] = spec_of(number + self._shift, image=image)

        async def change(name: str) -> None:
            spec = self.wanted[name]
            patch = MergePatch({"spec": {"image": spec.image, "size": spec.size}})
            while True:
                try:
                    await client.patch(AppService, name, patch, namespace=NAMESPACE)
                except SteersmanError:
                    await client.clock.sleep(0.2)  # no response
                else:
                    return

        await self._all(list(self.wanted), change)

    async def delete_all(self, client: Client, kind: type[Resource]) -> None:
        """Delete all objects of a kind."""
        # Dependents first: if a Deployment is recreated while the ReplicaSet of the old one exists,
        # Kubernetes retries only after up to a minute. One by one, because a server ends a
        # deletecollection that takes longer than a minute.
        found = await client.list(kind, namespace=NAMESPACE)

        async def delete(name: str) -> None:
            await client.delete(kind, name, namespace=NAMESPACE, propagation="Foreground")

        await self._all([each.name for each in found.items], delete)

    async def until_gone(self, client: Client, kind: type[Resource]) -> None:
        """Wait until no object of a kind is left."""
        async with client.clock.timeout(CONVERGED_WITHIN_SECONDS):
            while (await client.list(kind, namespace=NAMESPACE)).items:
                await client.clock.sleep(QUIET_SECONDS)

    async def _all(self, names: Sequence[str], do: Callable[[str], Awaitable[object]]) -> None:
        async def some(names: Sequence[str]) -> None:
            for name in names:
                await do(name)

        async with asyncio.TaskGroup() as group:
            for hand in range(HANDS):
                group.create_task(some(names[hand::HANDS]))


def accepted(log: Following, resource: str) -> list[Written]:
    """The operator's accepted writes of this resource."""
    return [
        each
        for each in log.written
        if each.is_accepted and each.resource == resource and each.agent.startswith(AGENT)
    ]


def spec_of(number: int, *, image: str) -> Spec:
    """The spec of an app; most have size 0, to spare the controllers of Pods."""
    size = {0: 1, 25: 2}.get(number % 50, 0)
    return Spec(image=image, size=size, ports=(core_v1.ServicePort(port=80),))


@contextmanager
def full_cluster(directory: Path) -> Iterator[OperatorCluster]:
    """A separate control plane with controllers and the definition of AppServices."""
    audit = AuditLog(directory)
    binaries = find_binaries(environ=os.environ)
    clock = SystemClock()
    with (
        running_real_control_plane(binaries, clock=clock, api_server_flags=audit.flags) as plane,
        plane.running_controllers(*CONTROLLERS, flags=QUICK),
        open_sandbox(prefix="steersman-operator-") as inside,
    ):
        cluster = OperatorCluster(plane, audit, inside)
        asyncio.run(cluster.set_up())
        yield cluster
