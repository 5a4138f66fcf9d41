"""``Cluster``: a test's interface to a cluster and its operators, simulated or real."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeVar, cast

from steersman.client import Client, Labels, Patch, wait_for
from steersman.clock import Clock
from steersman.controller import Controller
from steersman.errors import NotFound
from steersman.kinds import CustomResource, Resource, Unstructured, is_ready, replace
from steersman.manager import ManagerSettings, Runnable
from steersman.manifests import crd_of
from steersman_cluster.simulation.factory import Factory
from steersman_cluster.simulation.history import History, RecordedRequest
from steersman_cluster.workloads import WorkloadSettings

Obj = TypeVar("Obj", bound=Resource | Unstructured)
Kind = type[Obj]

# The field manager of a test's applies.
TESTER: Final = "test"

# The default cluster of a test: all of it, without the events of healthy Pods. Those would be a
# quarter of all writes, and few tests read them.
DEFAULT_SETTINGS: Final = WorkloadSettings(routine_events=False)

_INSTALL_SECONDS: Final = 30.0


class Operator(ABC):
    """A running operator."""

    name: str

    @abstractmethod
    async def stop(self) -> None:
        """Stop the operator as the signal SIGTERM does, and wait until the operator has ended."""

    @abstractmethod
    async def kill(self) -> None:
        """Kill the operator like SIGKILL: its ``finally`` blocks cannot change the cluster."""


class Cluster(ABC):
    """A test's interface to a cluster and the operators on the cluster.

    Methods that accept ``namespace`` use the test's namespace by default. ``history`` lists all
    requests to the API server.
    """

    history: History

    def __init__(self, client: Client, *, namespace: str) -> None:
        self.client = client
        self.namespace = namespace

    @property
    def clock(self) -> Clock:
        """The cluster's clock."""
        return self.client.clock

    # Requests of users

    async def install(self, *kinds: type[CustomResource[Any, Any]]) -> None:
        """Install the CRDs of ``kinds``, one after another, and wait until each is ready."""
        for kind in kinds:
            crd = await self.client.apply(crd_of(kind), field_manager=TESTER)
            await wait_for(
                self.client, type(crd), crd.name, is_ready, within_seconds=_INSTALL_SECONDS
            )

    async def apply(self, obj: Obj) -> Obj:
        """Apply ``obj`` with server-side apply and the test's field manager; return the result."""
        return await self.client.apply(self._at_home(obj), field_manager=TESTER, force=True)

    async def create(self, obj: Obj) -> Obj:
        """Create an object."""
        return await self.client.create(self._at_home(obj))

    async def get(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj:
        """Return the object ``name`` of kind ``kind``; raise ``NotFound`` if it does not exist."""
        return await self.client.get(kind, name, namespace=self._home(kind, namespace))

    async def find(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj | None:
        """Return the object ``name`` of kind ``kind``, or ``None`` if it does not exist."""
        try:
            return await self.get(kind, name, namespace=namespace)
        except NotFound:
            return None

    async def patch(
        self,
        kind: type[Obj],
        name: str,
        patch: Patch,
        *,
        namespace: str | None = None,
        subresource: Literal["status"] | None = None,
    ) -> Obj:
        """Send ``patch`` for the object ``name`` of kind ``kind``, and return the changed object.

        With ``subresource="status"``, the patch changes the object's status only.
        """
        home = self._home(kind, namespace)
        if subresource is not None:
            return await self.client.status(kind, name, namespace=home).patch(patch)
        return await self.client.patch(kind, name, patch, namespace=home)

    async def delete(
        self,
        kind: type[Obj],
        name: str,
        *,
        namespace: str | None = None,
        propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
    ) -> None:
        """Delete an object."""
        home = self._home(kind, namespace)
        await self.client.delete(kind, name, namespace=home, propagation=propagation)

    # Operators

    @abstractmethod
    async def run_operator(
        self,
        *operator: Controller[Any] | Factory,
        name: str = "operator",
        runnables: Sequence[Runnable] = (),
        settings: ManagerSettings | None = None,
    ) -> Operator:
        """Start an operator, which runs until it is stopped or killed, or the test ends.

        ``operator`` is one or more controllers. If the operator stores anything in memory, pass one
        function that builds the controllers instead; that function is called again at each start.
        ``runnables`` can be passed with controllers only, not with a function.
        """

    # Time

    @abstractmethod
    async def settle(self) -> None:
        """Wait until the operators and the cluster's own controllers have nothing left to do."""

    @abstractmethod
    async def advance(self, seconds: float) -> None:
        """Advance the time by exactly ``seconds``, and run everything that becomes due meanwhile.

        Work that becomes due at the very end may be unfinished when this method returns. Call
        ``settle`` to wait for that work.
        """

    # Writes of operators

    @abstractmethod
    def history_position(self) -> int:
        """Return the current length of the history, as the argument of ``writes_since``."""

    @abstractmethod
    def writes_since(self, position: int) -> list[RecordedRequest]:
        """Return the requests by which operators changed objects since ``position``, oldest first.

        ``position`` is an earlier result of ``history_position``. Requests for events, leases and
        reviews are left out.
        """

    async def second_pass(self) -> list[RecordedRequest]:
        """Restart all operators; return their writes when they reconcile every object again.

        The result should be empty, because the cluster is settled before the restart.
        """
        await self.settle()
        before = self.history_position()
        await self.restart_operators()
        await self.settle()
        return self.writes_since(before)

    async def assert_second_pass_writes_nothing(self) -> None:
        """Restart all operators; raise ``AssertionError`` if they then write anything."""
        writes = await self.second_pass()
        assert not writes, "a second pass wrote:\n" + "\n".join(map(str, writes))  # noqa: S101

    @abstractmethod
    async def restart_operators(self) -> None:
        """Stop and start each operator, so that it reconciles every object again."""

    def _home(self, kind: type[Any], namespace: str | None) -> str | None:
        if namespace is None and kind.resource_type.namespaced:
            return self.namespace
        return namespace

    def _at_home(self, obj: Obj) -> Obj:
        if obj.namespace is not None or not obj.resource_type.namespaced:
            return obj
        if isinstance(obj, Unstructured):
            about = {**obj.metadata, "namespace": self.namespace}
            return type(obj)({**obj.body, "metadata": about})
        metadata = replace(obj.metadata, namespace=self.namespace)
        return cast(Obj, replace(obj, metadata=metadata))

    # The last method, because below it ``list`` means this one in the class.

    async def list(
        self, kind: type[Obj], *, namespace: str | None = None, labels: Labels | None = None
    ) -> list[Obj]:
        """List the objects of kind ``kind``, only those with ``labels`` if given."""
        home = self._home(kind, namespace)
        return [*(await self.client.list(kind, namespace=home, labels=labels)).items]
