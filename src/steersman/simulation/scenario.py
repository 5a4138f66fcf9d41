"""``Scenario``: an operator, and what its users do while it works."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from steersman.controller import Controller
from steersman.kinds import CustomResource
from steersman.manager import Runnable
from steersman.simulation.world import USUAL, World
from steersman.workloads import WorkloadSettings

System = TypeVar("System")

Controllers: TypeAlias = Sequence[Controller[Any]]
Kinds: TypeAlias = Sequence[type[CustomResource[Any, Any]]]
Story: TypeAlias = Callable[[World], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """An operator on a cluster, and the story of what its users do.

    - ``operator`` are its controllers; or, where it reaches beyond the cluster, a function that
      makes them for the system that they reach.
    - ``story`` does what users do, and settles in between: ``await world.settle()``. At each of
      those moments the world must be as it is without faults.
    - ``runnables`` are what the operator runs beside its controllers.
    - ``kinds`` are installed before it begins.
    - ``outside`` makes a system beyond the cluster, anew for each run: a plain object. Each of its
      coroutine methods is a call like those to the API server, and its attributes are compared.
    - ``workloads`` says which of a cluster's own controllers run; all, unless told otherwise.
    """

    operator: Controllers | Callable[[Any], Controllers]
    story: Story
    kinds: Kinds = ()
    runnables: Sequence[Runnable] = ()
    outside: Callable[[], Any] | None = None
    workloads: WorkloadSettings = USUAL

    if TYPE_CHECKING:  # so that the operator is made for the system that there is

        @overload
        def __init__(
            self,
            *,
            operator: Controllers,
            story: Story,
            kinds: Kinds = (),
            runnables: Sequence[Runnable] = (),
            workloads: WorkloadSettings = ...,
        ) -> None: ...

        @overload
        def __init__(
            self,
            *,
            operator: Callable[[System], Controllers],
            outside: Callable[[], System],
            story: Story,
            kinds: Kinds = (),
            runnables: Sequence[Runnable] = (),
            workloads: WorkloadSettings = ...,
        ) -> None: ...

        def __init__(self, **_: Any) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", tuple(self.kinds))
        object.__setattr__(self, "runnables", tuple(self.runnables))
        if not callable(self.operator):
            object.__setattr__(self, "operator", tuple(self.operator))
        if callable(self.operator) != (self.outside is not None):
            raise TypeError(
                "a scenario whose operator is a function of a system beyond the cluster says with"
                " outside=… how that is made, and no other does"
            )

    def controllers(self, system: Any) -> Controllers:
        """The operator, at work on this system."""
        return self.operator(system) if callable(self.operator) else self.operator
