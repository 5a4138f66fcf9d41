"""``Cluster``: a cluster and the operators on it, as a test sees them, simulated or real."""

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

# Under whose name a test applies.
TESTER: Final = "test"

# The cluster of a test, unless it wants another: all of it, but no word of Pods that do well. Those
# would be a quarter of all that is written, and hardly a test reads them.
DEFAULT_SETTINGS: Final = WorkloadSettings(routine_events=False)

_INSTALL_SECONDS: Final = 30.0


class Operator(ABC):
    """An operator while it runs."""

    name: str

    @abstractmethod
    async def stop(self) -> None:
        """Ask it to end, as SIGTERM does, and wait until it has."""

    @abstractmethod
    async def kill(self) -> None:
        """End it at once, as SIGKILL does: none of its ``finally`` blocks runs."""


class Cluster(ABC):
    """A cluster, and operators on it.

    What is read or written without a namespace is in that of the test. ``history`` is what was
    asked there.
    """

    history: History

    def __init__(self, client: Client, *, namespace: str) -> None:
        self.client = client
        self.namespace = namespace

    @property
    def clock(self) -> Clock:
        """What time it is there."""
        return self.client.clock

    # What users do

    async def install(self, *kinds: type[CustomResource[Any, Any]]) -> None:
        """Have the API server serve these kinds."""
        for kind in kinds:
            crd = await self.client.apply(crd_of(kind), field_manager=TESTER)
            await wait_for(
                self.client, type(crd), crd.name, is_ready, within_seconds=_INSTALL_SECONDS
            )

    async def apply(self, obj: Obj) -> Obj:
        """Exactly these fields are the test's, with these values."""
        return await self.client.apply(self._at_home(obj), field_manager=TESTER, force=True)

    async def create(self, obj: Obj) -> Obj:
        """A new object."""
        return await self.client.create(self._at_home(obj))

    async def get(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj:
        """One object; ``NotFound`` if it is not there."""
        return await self.client.get(kind, name, namespace=self._home(kind, namespace))

    async def find(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj | None:
        """One object, or ``None``."""
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
        """Some fields changed."""
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
        """Ask for its end."""
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
        """An operator, which runs until it is stopped, killed, or the test is over.

        It is given by its controllers; or, where it remembers anything, by one function that
        builds them, and that is called again whenever the operator is started again.
        """

    # Time

    @abstractmethod
    async def settle(self) -> None:
        """Wait until nothing is left to do."""

    @abstractmethod
    async def advance(self, seconds: float) -> None:
        """Let exactly so much time pass, and all happen that is due in it.

        What begins at its end has only begun: ``settle`` waits for that.
        """

    # What was done

    @abstractmethod
    def moment(self) -> int:
        """Now, to be asked about later."""

    @abstractmethod
    def writes_since(self, moment: int) -> list[RecordedRequest]:
        """What operators have changed since then, oldest first."""

    async def second_pass(self) -> list[RecordedRequest]:
        """What the operators change when each looks at everything once more: nothing, if right."""
        await self.settle()
        before = self.moment()
        await self.restart_operators()
        await self.settle()
        return self.writes_since(before)

    async def assert_second_pass_writes_nothing(self) -> None:
        """Fail unless the operators are content with what they have made."""
        writes = await self.second_pass()
        assert not writes, "a second pass wrote:\n" + "\n".join(map(str, writes))  # noqa: S101

    @abstractmethod
    async def restart_operators(self) -> None:
        """Start each operator again, so that it looks at everything once more."""

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

    # The last one, because from here on ``list`` means this in the class.

    async def list(
        self, kind: type[Obj], *, namespace: str | None = None, labels: Labels | None = None
    ) -> list[Obj]:
        """All objects of a kind."""
        home = self._home(kind, namespace)
        return [*(await self.client.list(kind, namespace=home, labels=labels)).items]
