"""``steersman dev``: an operator on the embedded cluster, started again whenever a file is saved.

    cluster and its workloads ─────────────────────────────┐ in this process
      ▲                ▲                                   │
      │ objects        │ HTTPS                             │
    the view ◀─reports─ the operator, in its own ◀─started─┘ anew after each save

The cluster goes on from one life of the operator to the next, and with it all its objects.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any, TextIO

from steersman.apiserver import InProcessTransport, RunningCluster, running_cluster
from steersman.cache import in_background
from steersman.cli.cluster import ERROR, workloads_of
from steersman.cli.desk import Desk, Development
from steersman.cli.signals import on_end_signals
from steersman.cli.views import show_in_lines, show_on_screen
from steersman.client import Client
from steersman.clock import Clock
from steersman.dashboard import Gallery
from steersman.errors import ManagerFailed, SteersmanError
from steersman.observe import ignore, log_to
from steersman.workloads import WorkloadSettings


async def develop(
    what: Development,
    *,
    clock: Clock,
    rng: Random,
    environ: Mapping[str, str],
    out: TextIO,
    err: TextIO,
) -> None:
    """Run the cluster and the operator until somebody asks for the end, and leave nothing.

    Raises ``ManagerFailed`` if the time that was given is over, and the operator does not run.
    """
    ended = asyncio.Event()
    on_end_signals(ended.set)
    try:
        async with _cluster(what, clock=clock, rng=rng, environ=environ, err=err) as cluster:
            client = Client(
                InProcessTransport(cluster.server), clock=clock, rng=rng, observe=ignore
            )
            async with Gallery(client, observe=ignore).open() as gallery:
                desk = Desk(what, cluster, gallery, client=client, clock=clock)
                view = (
                    show_on_screen(desk, out, environ=environ)
                    if out.isatty()
                    else show_in_lines(desk, out, err)
                )
                await desk.prepare()
                is_over = await _work(desk, view, ended, what=what)
    except ExceptionGroup as failed:
        raise _alone(failed) from None
    if out.isatty():  # the story has gone with the view
        err.writelines(f"» {each}\n" for each in desk.told)
    err.write("The operator has ended, and the cluster is gone.\n")
    if not is_over:  # but was asked to end
        return
    if not desk.started.is_set():
        raise ManagerFailed(
            problem=f"{what.called} has not come to work in {what.start_seconds:g} seconds",
            what_now="See what takes so long when it is imported.",
        )
    if not desk.session.is_running:
        if out.isatty():  # what it said has gone with the view
            err.writelines(f"{each}\n" for each in desk.session.words)
        raise ManagerFailed(
            problem=f"{what.called} does not run",
            what_now="Correct what it said above.",
        )


async def _work(
    desk: Desk, view: Coroutine[Any, Any, None], ended: asyncio.Event, *, what: Development
) -> bool:
    """Have everything at work until the end, or until the time or story is over: whether it is."""
    async with in_background() as start:
        limits = list(desk.start_story(start))
        if what.for_seconds is not None:
            limits.append(start(_time(desk, what.for_seconds, what.start_seconds), name="time"))
        # Without anybody who looks there is nothing to be done.
        for each in (start(view, name="view"), *limits):
            each.add_done_callback(lambda _: ended.set())
        start(desk.keep_running(), name="operator")
        start(desk.keep_applied(), name="samples")
        await ended.wait()
        return any(each.done() for each in limits)


async def _time(desk: Desk, for_seconds: float, start_seconds: float) -> None:
    """What somebody gave it: it begins when the operator has, however long that takes it."""
    try:
        async with desk.clock.timeout(start_seconds):
            await desk.started.wait()
    except TimeoutError:
        return
    await desk.clock.sleep(for_seconds)


def _alone(failed: ExceptionGroup[Exception]) -> Exception:
    """The first of those that say what to do; all of them, if there are others."""
    ours, others = failed.split(SteersmanError)
    if ours is None or others is not None:
        return failed
    first: Exception = ours
    while isinstance(first, ExceptionGroup):
        first = first.exceptions[0]
    return first


@asynccontextmanager
async def _cluster(
    what: Development, *, clock: Clock, rng: Random, environ: Mapping[str, str], err: TextIO
) -> AsyncIterator[RunningCluster]:
    # On a terminal these would be written across the view.
    observe = ignore if err.isatty() else log_to(err, clock=clock, level=ERROR)
    lively = WorkloadSettings(nodes=what.nodes, heartbeat_seconds=10.0)
    async with (
        running_cluster(
            what.cluster, clock=clock, rng=rng, observe=observe, environ=environ
        ) as cluster,
        workloads_of(cluster, lively, clock=clock, rng=rng, observe=observe),
    ):
        yield cluster
