"""``run_session``: runs a cluster, an operator, and a view of both until the session ends.

    cluster and its workloads ─────────────────────────────┐ in this process
      ▲                ▲                                   │
      │ objects        │ HTTPS                             │
    the view ◀─reports─ the operator, in its own ◀─started─┘ again after each save

The cluster and its objects stay when the operator is restarted.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any, TextIO

from steersman.cache import background_tasks
from steersman.client import Client
from steersman.clock import Clock
from steersman.errors import ManagerFailed, SteersmanError
from steersman.observe import ignore, log_to
from steersman.view import ObjectView
from steersman_cluster.apiserver import InProcessTransport, RunningCluster, running_cluster
from steersman_cluster.commands.embedded_cluster import ERROR, running_workloads_of
from steersman_cluster.commands.session.display import show_in_lines, show_on_screen
from steersman_cluster.commands.session.session import DevOptions, DevSession
from steersman_cluster.commands.signals import on_end_signals
from steersman_cluster.workloads import WorkloadSettings


async def run_session(
    options: DevOptions,
    *,
    clock: Clock,
    rng: Random,
    environ: Mapping[str, str],
    out: TextIO,
    err: TextIO,
) -> None:
    """Run a cluster and an operator until Ctrl-C or the end of the session; then remove both.

    The session ends by itself at its time limit, or after the last step of its demo. Raise
    ``ManagerFailed`` if the operator is not running then.
    """
    ended = asyncio.Event()
    on_end_signals(ended.set)
    try:
        async with _cluster(options, clock=clock, rng=rng, environ=environ, err=err) as cluster:
            client = Client(
                InProcessTransport(cluster.server), clock=clock, rng=rng, observe=ignore
            )
            async with ObjectView(client, observe=ignore).open() as view:
                session = DevSession(options, cluster, view, client=client, clock=clock)
                display = (
                    show_on_screen(session, out, environ=environ)
                    if out.isatty()
                    else show_in_lines(session, out, err)
                )
                await session.prepare()
                is_over = await _run_until_end(session, display, ended, options=options)
    except ExceptionGroup as failed:
        raise _alone(failed) from None
    if out.isatty():  # the steps disappeared with the screen
        err.writelines(f"» {each}\n" for each in session.steps)
    err.write("The operator and its cluster have stopped.\n")
    if not is_over:  # ended by a signal
        return
    if not session.started.is_set():
        raise ManagerFailed(
            problem=f"{options.shown_name} has not started in {options.start_seconds:g} seconds",
            what_now="Check what takes so long during its import.",
        )
    if not session.state.is_running:
        if out.isatty():  # the output disappeared with the screen
            err.writelines(f"{each}\n" for each in session.state.output)
        raise ManagerFailed(
            problem=f"{options.shown_name} does not run",
            what_now="Correct the error above.",
        )


async def _run_until_end(
    session: DevSession,
    display: Coroutine[Any, Any, None],
    ended: asyncio.Event,
    *,
    options: DevOptions,
) -> bool:
    """Run all tasks of the session until it ends.

    Return whether the time limit or the end of the demo is the reason.
    """
    async with background_tasks() as start:
        limits = list(session.start_demo(start))
        if options.for_seconds is not None:
            limits.append(
                start(_limit(session, options.for_seconds, options.start_seconds), name="time")
            )
        # A display returns when its reader has closed the pipe.
        for each in (start(display, name="display"), *limits):
            each.add_done_callback(lambda _: ended.set())
        start(session.keep_running(), name="operator")
        start(session.keep_applied(), name="samples")
        await ended.wait()
        return any(each.done() for each in limits)


async def _limit(session: DevSession, for_seconds: float, start_seconds: float) -> None:
    """Return ``for_seconds`` after the operator has started.

    If the operator has not started after ``start_seconds``, return then.
    """
    try:
        async with session.clock.timeout(start_seconds):
            await session.started.wait()
    except TimeoutError:
        return
    await session.clock.sleep(for_seconds)


def _alone(failed: ExceptionGroup[Exception]) -> Exception:
    """Return the first error in the group if all are steersman's own; otherwise the whole group."""
    ours, others = failed.split(SteersmanError)
    if ours is None or others is not None:
        return failed
    first: Exception = ours
    while isinstance(first, ExceptionGroup):
        first = first.exceptions[0]
    return first


@asynccontextmanager
async def _cluster(
    options: DevOptions, *, clock: Clock, rng: Random, environ: Mapping[str, str], err: TextIO
) -> AsyncIterator[RunningCluster]:
    # On a terminal, log lines would break the screen.
    observe = ignore if err.isatty() else log_to(err, clock=clock, level=ERROR)
    workloads = WorkloadSettings(nodes=options.nodes, heartbeat_seconds=10.0)
    async with (
        running_cluster(
            options.cluster, clock=clock, rng=rng, observe=observe, environ=environ
        ) as cluster,
        running_workloads_of(cluster, workloads, clock=clock, rng=rng, observe=observe),
    ):
        yield cluster
