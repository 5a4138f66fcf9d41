"""What must hold for an operator to be ready, as checks that probes ask."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from steersman.cache import Informer
from steersman.manager.probes import Check
from steersman.manager.startup import Startup


def cache_checks(startup: Startup | None, informers: Sequence[Informer[Any]]) -> Iterator[Check]:
    """Whether the caches are filled and up to date; each that is not says which kind it is of."""
    is_filled = startup is not None and startup.is_complete
    yield Check("caches", _said(is_filled, "not all have been filled yet"), is_public=True)
    if startup is not None:
        for controller, pending in startup.pending:
            kinds = "; ".join(f"{kind}: {problem}" for kind, problem in pending)
            yield Check(
                f"controller-{controller}",
                _said(False, f"it waits for {kinds or 'its caches'}"),
                is_public=True,
            )
    for each in informers:
        yield Check(
            f"cache-of-{each.kind.resource_type.gvr.resource}",
            _said(each.has_synced, "it is not up to date"),
            is_public=True,
        )


def _said(is_so: bool, why_not: str) -> Callable[[], str | None]:
    return lambda: None if is_so else why_not
