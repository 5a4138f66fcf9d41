"""The readiness and liveness checks that steersman itself defines for an operator.

An operator whose API server is unreachable is alive, because a restart would not help. An operator
is not alive if one of its parts that must run even without the API server has stopped.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from steersman.cache import Informer
from steersman.manager.endpoints.probes import Check
from steersman.manager.startup import Startup

if TYPE_CHECKING:
    from steersman.manager.leader_election.leadership import Leadership
    from steersman.manager.server_probe import ServerProbe

# Longer than a busy machine or a pause of the process explains: the number of consecutive missed
# checks of the event loop, and the time without an attempt to renew the lease.
MISSED_CHECKS: Final = 30
IDLE_SECONDS: Final = 30.0


def cache_checks(startup: Startup | None, informers: Sequence[Informer[Any]]) -> Iterator[Check]:
    """Yield checks that the caches have synced and are up to date.

    If a check fails, its reason names the kinds whose caches have not synced or are not up to date.
    """
    is_filled = startup is not None and startup.is_complete
    yield Check("caches", _problem_unless(is_filled, "not all caches have synced"), is_public=True)
    if startup is not None:
        for controller, pending in startup.pending:
            kinds = "; ".join(f"{kind}: {problem}" for kind, problem in pending)
            yield Check(
                f"controller-{controller}",
                _problem_unless(False, f"waiting for {kinds or 'its caches'}"),
                is_public=True,
            )
    for each in informers:
        yield Check(
            f"cache-of-{each.kind.resource_type.gvr.resource}",
            _problem_unless(each.has_synced, "it has not synced"),
            is_public=True,
        )


def server_checks(probe: "ServerProbe | None") -> Iterator[Check]:
    """Yield a check that the API server responds; yield nothing if ``probe`` is ``None``."""
    if probe is not None:
        yield Check("api-server", probe.why_not_ready, is_public=True)


def live_checks(
    *,
    loop_idle_seconds: float,
    loop_check_seconds: float,
    informers: Sequence[Informer[Any]],
    workers: Iterable[asyncio.Task[None]],
    leadership: "Leadership | None",
    lease_seconds: float,
) -> Iterator[Check]:
    """Yield checks that the parts of an operator that must never stop are still running.

    These are the event loop, the informers, the workers and leader election.
    """
    yield Check(
        "event-loop",
        _problem_unless(
            loop_idle_seconds < MISSED_CHECKS * loop_check_seconds,
            f"the event loop has not run its check for {loop_idle_seconds:.0f} s",
        ),
        is_public=True,
    )
    ended = [str(each.kind.resource_type.gvk) for each in informers if not each.is_running]
    yield Check(
        "informers", _problem_unless(not ended, f"ended: {', '.join(ended)}"), is_public=True
    )
    stopped = [each for each in workers if each.done() and not each.cancelled()]
    yield Check(
        "workers", _problem_unless(not stopped, f"{len(stopped)} loops have ended"), is_public=True
    )
    if leadership is not None:
        idle_seconds = leadership.idle_seconds
        yield Check(
            "leader-election",
            _problem_unless(
                # Several attempts fit into one lease, even if the server does not respond.
                idle_seconds < IDLE_SECONDS + lease_seconds,
                f"the lease has been neither requested nor renewed for {idle_seconds:.0f} s",
            ),
            is_public=True,
        )


def _problem_unless(holds: bool, why_not: str) -> Callable[[], str | None]:
    return lambda: None if holds else why_not
