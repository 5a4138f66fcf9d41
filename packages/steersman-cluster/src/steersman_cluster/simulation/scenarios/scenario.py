"""``Scenario``: an operator, and what its users do while the operator runs."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from steersman.kinds import CustomResource
from steersman_cluster.errors import BadScenario
from steersman_cluster.simulation.cluster import DEFAULT_SETTINGS, Cluster
from steersman_cluster.simulation.factory import Built, Factory, OperatorFactory, check_factory
from steersman_cluster.simulation.scenarios.redaction import IgnoredFields
from steersman_cluster.workloads import WorkloadSettings

System = TypeVar("System")

Kinds: TypeAlias = Sequence[type[CustomResource[Any, Any]]]
Steps: TypeAlias = Callable[[Cluster], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """An operator on a cluster, and the steps of the operator's users.

    - ``operator`` is a function that builds the operator: it returns a ``Manager``, or controllers
      and runnables. It is called at each start and after each crash, so all state that the operator
      stores in memory must be created in this function. If ``outside`` is set, the function
      receives the system that ``outside`` has created.
    - ``steps`` performs the users' actions, and calls ``await cluster.settle()`` between them.
      After each of these calls, the cluster must be in the same state as without faults.
    - ``kinds`` are the kinds whose CRDs are installed before the first step.
    - ``outside`` creates a new system outside the cluster for each execution of the scenario. The
      system is a plain object, which survives crashes of the operator. Calls of its coroutine
      methods are subject to faults, like calls to the API server. Its attributes are compared.
    - ``workloads`` selects the cluster's own controllers; by default, all of them run.
    - ``ignore`` lists fields that are not compared: ``"Site.status.phase"``, ``"outside.calls"``. A
      ``*`` matches every key, and a key that contains a dot is written in brackets.
    """

    operator: Factory | Callable[[Any], Built]
    steps: Steps
    kinds: Kinds = ()
    outside: Callable[[], Any] | None = None
    workloads: WorkloadSettings = DEFAULT_SETTINGS
    ignore: Sequence[str] = ()

    if TYPE_CHECKING:  # the factory takes the system of this run

        @overload
        def __init__(
            self,
            *,
            operator: Factory,
            steps: Steps,
            kinds: Kinds = (),
            workloads: WorkloadSettings = ...,
            ignore: Sequence[str] = (),
        ) -> None: ...

        @overload
        def __init__(
            self,
            *,
            operator: Callable[[System], Built],
            outside: Callable[[], System],
            steps: Steps,
            kinds: Kinds = (),
            workloads: WorkloadSettings = ...,
            ignore: Sequence[str] = (),
        ) -> None: ...

        def __init__(self, **_: Any) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", tuple(self.kinds))
        object.__setattr__(self, "ignore", tuple(self.ignore))
        IgnoredFields(self.ignore)
        check_factory(self.operator)
        takes = "the system that outside= makes" if self.outside is not None else "nothing"
        if not _can_take(self.operator, 0 if self.outside is None else 1):
            raise BadScenario(
                problem=f"the function that builds the operator must take {takes}, but does not",
                what_now="With outside=…, operator= must be a function of the external system that"
                " outside= makes; without it, a function without parameters.",
            )

    def factory(self, system: Any) -> OperatorFactory:
        """Return a factory that builds the operator.

        ``system`` is the system outside the cluster. The factory passes it to the function that
        builds the operator, if ``outside`` is set.
        """
        operator: Callable[..., Built] = self.operator
        if self.outside is None:
            return OperatorFactory(operator)
        return OperatorFactory(partial(operator, system), outside=system)


def _can_take(function: Callable[..., Any], number: int) -> bool:
    try:
        inspect.signature(function).bind(*(None,) * number)
    except TypeError:
        return False
    except ValueError:  # implemented in C, without a signature
        return True
    return True
