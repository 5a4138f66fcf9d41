"""The options of a manager besides its controllers and runnables, as one frozen value."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from steersman.cache import CacheOptions
from steersman.client import ClientSettings
from steersman.controller import Controller
from steersman.errors import BadManager
from steersman.kinds import Unstructured
from steersman.manager.runnables import Runnable, Services

#: Opens the resources outside the cluster that reconcilers need, and closes them after the last
#: reconcile.
Lifespan: TypeAlias = Callable[[Services], AbstractAsyncContextManager[Any]]


# The prefixes of the operator's own metrics.
_TAKEN: Final = (
    "steersman_",
    "controller_runtime_",
    "workqueue_",
    "leader_election_",
    "process_",
    "python_",
)


class Collector(Protocol):
    """A source of metrics: a counter, gauge, collector or registry of prometheus_client."""

    def collect(self) -> Iterable[Any]:
        """Return the current metrics."""
        ...


class HealthCheck(msgspec.Struct, frozen=True):
    """A condition that the operator's author defines, for liveness or for readiness.

    ``check`` is called with the manager's ``Services``. It returns ``None`` if the condition holds,
    and otherwise the reason, which is logged and not included in the response to a probe. An
    exception counts as a failure.

    A ``check`` that is not async is called at every probe, and once a second to report changes of
    the result, so it should only use facts that are already known. An async ``check`` is called
    every ``every_seconds`` and must return within that time; probes use its last result.
    """

    name: str
    check: Callable[[Services], str | None] | Callable[[Services], Awaitable[str | None]]
    every_seconds: float = 10.0

    def __post_init__(self) -> None:
        if not self.name or not all(each.isalnum() or each in "-_." for each in self.name):
            raise BadManager(
                problem=f"the name of a health check is invalid: {self.name!r}",
                what_now="Use letters, digits and dashes, because probes show the name.",
            )
        if not callable(self.check):
            raise BadManager(
                problem=f"the health check {self.name} has an object of"
                f" {type(self.check).__name__} instead of a function",
                what_now="Pass a function of Services that returns None, or the problem as text.",
            )
        if not 0 < self.every_seconds < float("inf"):
            raise BadManager(
                problem=f"the health check {self.name} has every_seconds={self.every_seconds:g}",
                what_now="Set a positive number of seconds.",
            )


class ManagerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """All options, checked."""

    lifespan: Lifespan | None = None
    metrics: tuple[Collector, ...] = ()
    healthz: tuple[HealthCheck, ...] = ()
    readyz: tuple[HealthCheck, ...] = ()
    caches: tuple[CacheOptions[Any], ...] = ()
    client: ClientSettings | None = None

    def __post_init__(self) -> None:
        if self.lifespan is not None and not callable(self.lifespan):
            raise BadManager(
                problem=f"its lifespan is an object of {type(self.lifespan).__name__}",
                what_now="Pass a function of Services that returns an async context manager: a"
                " generator function under @contextlib.asynccontextmanager is one.",
            )
        if self.client is not None and self.client.dry_run:
            raise BadManager(
                problem="its client sets dry_run, and its caches would contain dry-run writes",
                what_now="Remove dry_run.",
            )
        for what, kind in (("healthz", HealthCheck), ("readyz", HealthCheck)):
            _check_each(what, getattr(self, what), kind)
            names = [each.name for each in getattr(self, what)]
            if len(set(names)) < len(names):
                raise BadManager(
                    problem=f"two of its {what} have the same name: {', '.join(sorted(names))}",
                    what_now="Give each a unique name.",
                )
        _check_each("caches", self.caches, CacheOptions)
        if self.metrics:
            _check_metrics(self.metrics)

    def check_kinds(
        self, controllers: Sequence[Controller[Any]], runnables: Sequence[Runnable]
    ) -> None:
        """Raise ``BadManager`` for invalid cache options.

        These are options for a kind that is not cached, two options for one kind, and a transform
        for another class than that with which the kind is watched.
        """
        declared = [kind for each in controllers for kind in each.cached_kinds]
        declared += [kind for each in runnables for kind in each.watches]
        known = {(gvk.group, gvk.kind) for gvk in (kind.resource_type.gvk for kind in declared)}
        seen: set[tuple[str, str]] = set()
        for each in self.caches:
            if each.group_kind in seen:
                raise BadManager(
                    problem=f"it has two CacheOptions for {each.kind.resource_type}",
                    what_now="Set all options of a kind in one CacheOptions.",
                )
            seen.add(each.group_kind)
            if each.group_kind not in known:
                raise BadManager(
                    problem=f"it has CacheOptions for {each.kind.resource_type}, which its"
                    " controllers and runnables do not watch",
                    what_now="Remove them, or declare the kind in a controller or runnable.",
                )
            if each.transform is not None and not any(_is_like(each.kind, one) for one in declared):
                raise BadManager(
                    problem=f"the transform of its CacheOptions for {each.kind.resource_type} is"
                    f" for {each.kind.__name__}, but the kind is watched as another class",
                    what_now="Use the controller's class of the kind in CacheOptions.",
                )


def _is_like(one: type[Any], other: type[Any]) -> bool:
    """Return whether ``one`` and ``other`` share one cache.

    Two classes of ``Unstructured.of`` for one kind share a cache.
    """
    if issubclass(one, Unstructured) and issubclass(other, Unstructured):
        return one.resource_type == other.resource_type
    return one is other


def _check_each(what: str, given: object, kind: type[Any]) -> None:
    if not isinstance(given, tuple) or not all(isinstance(each, kind) for each in given):
        raise BadManager(
            problem=f"its {what} must contain only {kind.__name__}",
            what_now=f"Write {what}=[{kind.__name__}(…)].",
        )


def _check_metrics(metrics: Sequence[Collector]) -> None:
    # Imported here: the import takes long, and an author with metrics has already imported it.
    from steersman.observe import new_registry

    registry = new_registry()
    for each in metrics:
        if not callable(getattr(each, "collect", None)):
            raise BadManager(
                problem=f"an object of {type(each).__name__} in its metrics is not a metric",
                what_now="Pass metrics of prometheus_client, created with registry=None.",
            )
        for name in _names(each):
            if name.startswith(_TAKEN):
                raise BadManager(
                    problem=f"its metric {name} has a name that steersman reserves",
                    what_now=f"Rename it: the prefixes {', '.join(_TAKEN)} are reserved.",
                )
        register(registry, each)


def _names(collector: Collector) -> Iterable[str]:
    # Collectors that can only be described by collecting them are not checked.
    describe: Callable[[], Iterable[Any]] | None = getattr(collector, "describe", None)
    return () if describe is None else [each.name for each in describe()]


def register(registry: Any, collector: Collector) -> None:
    """Add ``collector`` to ``registry``, a registry of prometheus_client.

    Raise ``BadManager`` if the registry already contains a metric of the same name.
    """
    try:
        registry.register(collector)
    except ValueError as error:
        raise BadManager(
            problem=f"two metrics have the same name: {error}",
            what_now="Give each a unique name.",
        ) from error
