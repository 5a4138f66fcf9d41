"""An operator with many AppServices is restarted while new AppServices arrive.

If reconciles only sleep, all operators share one control plane, because they write nothing.
Otherwise, each operator has its own control plane and runs there from one turn to the next. The
children and the status of each AppService are then checked before the first turn and at the end of
each turn; there are no Pods.
"""

import asyncio
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count as count_from
from pathlib import Path
from typing import TypeAlias

from bench.harness.child_processes import TIMEOUT_SECONDS, wait_for_exit
from bench.harness.convergence import (
    SERVICES,
    SETTLE_SECONDS,
    SYNC_SECONDS,
    check_state,
    cluster,
)
from bench.harness.fixtures import HOME, app_name, create_apps
from bench.harness.helper_processes import running_watcher, running_writer, server_cpu_seconds
from bench.harness.load import Destination, in_parallel
from bench.harness.operators import Command, Operator, running_operator
from bench.harness.rounds import Cost, Turn, skipping_failures
from bench.harness.spans import (
    Notes,
    Write,
    deployment_times,
    durations,
    line_count,
    notes_in,
    percentiles,
    reached_at,
    reconcile_times,
    writes_in,
)
from bench.harness.task import DEPLOYMENTS
from steersman_cluster.testing import RealControlPlane

NEW_A_SECOND = 20.0

# New AppServices arrive for this long before the operator is stopped, for this long after all
# others are reconciled, and at least for this long after the stop.
BEFORE_SECONDS = 1.0
AFTER_SECONDS = 3.0
MIN_SECONDS = 10.0

# No contender takes longer.
MAX_SECONDS = TIMEOUT_SECONDS

# The numbers reserved for the AppServices of one restart: more than can arrive.
NAMES_PER_RESTART = 20_000

# An operator that has started this many reconciles is busy.
MIN_RECONCILES = 500

POLL_SECONDS = 0.5

# The command of an operator that records the start of each reconcile in this file.
CommandFor: TypeAlias = Callable[[Path], Command]


class RestartableOperator:
    """An operator on a control plane with ``count`` AppServices.

    ``firsts`` are the first numbers of the new AppServices of each restart. ``children`` are the
    files in which watchers record Deployments and Services; empty if reconciles only sleep.
    """

    def __init__(
        self,
        command_for: CommandFor,
        plane: RealControlPlane,
        stack: ExitStack,
        *,
        count: int,
        firsts: Iterator[int],
        children: Sequence[Path] = (),
    ) -> None:
        self._command_for = command_for
        self._plane = plane
        self._stack = stack
        self._count = count
        self._firsts = firsts
        self._children = children
        self._starts, self._operator = self._start()

    def wait_for_reconciles(self) -> None:
        """Wait until the operator reconciles the existing AppServices."""
        enough = min(MIN_RECONCILES, self._count)
        self._operator.wait_until(
            f"{enough} reconciles started",
            lambda: line_count(self._starts) >= enough,
            poll_seconds=POLL_SECONDS,
        )

    def settle(self) -> None:
        """Create the AppServices, and wait until all have children."""
        self._operator.wait_until_idle(seconds=SYNC_SECONDS)
        asyncio.run(create_apps(self._plane.kubeconfig, range(self._count)))
        self._operator.wait_until(
            f"{self._count} Deployments and Services",
            lambda: all(len(notes_in(file)) >= self._count for file in self._children),
            poll_seconds=POLL_SECONDS,
        )
        # Nothing creates Pods here, because they would cost only the other processes.
        check_state(self._plane, self._operator, self._count)

    def check_state(self, new: Sequence[Write]) -> None:
        """Check the children and the status of the existing and the new AppServices."""
        # The writer is stopped at an arbitrary time, and may have created one more.
        check_state(self._plane, self._operator, self._count + len(new), or_more=True)

    def remove(self, new: Sequence[Write]) -> None:
        """Delete the new AppServices and their children, and wait until the operator is idle."""
        # There is no garbage collector. The AppServices are deleted first, because the operator
        # would create their children again.
        homes = (HOME, DEPLOYMENTS, SERVICES) if self._children else (HOME,)
        for home in homes:
            self._operator.wait_until_idle(seconds=SYNC_SECONDS)
            asyncio.run(_remove(Destination.of(self._plane.kubeconfig), home, new))
        self._operator.wait_until_idle(seconds=SETTLE_SECONDS)

    def restart(self, number: signal.Signals) -> tuple[Cost, Sequence[Write]]:
        """Stop the operator with a signal, start it again, and return the costs and the writes.

        ``first`` and ``through`` are the times from the signal until the first and the last of the
        existing AppServices is reconciled again. ``busy`` is the delay of new AppServices that
        arrive between these times.
        """
        before = self._starts
        first = next(self._firsts)
        into = self._plane.directory / f"new-{first}"
        flags = [f"--first={first}", f"--rate={NEW_A_SECOND}", f"--seconds={MAX_SECONDS}"]
        with running_writer("create", self._plane.kubeconfig, *flags, into=into):
            time.sleep(BEFORE_SECONDS)
            server_before_seconds = server_cpu_seconds(self._plane)
            stopped_at = time.monotonic()
            self._operator.process.send_signal(number)
            wait_for_exit(self._operator.process, within_seconds=MAX_SECONDS)
            self._starts, self._operator = self._start()
            first_at, through_at = self._all_reconciled()
            spent = {
                "cpu": self._operator.cpu_seconds(),
                "server_cpu": server_cpu_seconds(self._plane) - server_before_seconds,
                **self._operator.memory(),
            }
            time.sleep(max(AFTER_SECONDS, MIN_SECONDS - (time.monotonic() - stopped_at)))
        writes = writes_in(into)
        new = [each for each in writes if each.due_at >= stopped_at]
        self._operator.wait_until(
            f"{len(new)} new AppServices reconciled",
            lambda: None not in self._reconciled(new, before),
            poll_seconds=POLL_SECONDS,
        )
        starts = notes_in(before, self._starts)
        busy = [each for each in new if first_at <= each.due_at <= through_at]
        costs = {
            **percentiles("start", _since_due(new, reconcile_times(new, starts))),
            # No delay without new objects while others are queued.
            **(
                percentiles("busy", _since_due(busy, reconcile_times(busy, starts))) if busy else {}
            ),
            "first": first_at - stopped_at,
            "through": through_at - stopped_at,
            **spent,
        }
        if self._children:
            costs |= percentiles("children", _since_due(new, self._children_of(new)))
        return costs, writes

    def _start(self) -> tuple[Path, Operator]:
        starts = self._plane.directory / f"starts-{time.monotonic_ns()}"
        operator = running_operator(self._command_for(starts), kubeconfig=self._plane.kubeconfig)
        return starts, self._stack.enter_context(operator)

    def _all_reconciled(self) -> tuple[float, float]:
        """Wait until all existing AppServices are reconciled; return the first and last time."""
        names = {app_name(number) for number in range(self._count)}
        self._operator.wait_until(
            f"all of {self._count} AppServices reconciled again",
            lambda: (
                line_count(self._starts) >= self._count and names <= notes_in(self._starts).keys()
            ),
            poll_seconds=POLL_SECONDS,
        )
        return first_and_last(names, notes_in(self._starts))

    def _reconciled(self, new: Sequence[Write], before: Path) -> Sequence[float | None]:
        begun = reconcile_times(new, notes_in(before, self._starts))
        return [*begun, *self._children_of(new)] if self._children else begun

    def _children_of(self, new: Sequence[Write]) -> Sequence[float | None]:
        """The time at which both children of each AppService existed, or ``None``."""
        deployments, services = map(notes_in, self._children)
        seen = zip(
            deployment_times(new, deployments),
            (reached_at(services, each.name, 0) for each in new),
            strict=True,
        )
        return [
            None if one_at is None or other_at is None else max(one_at, other_at)
            for one_at, other_at in seen
        ]


def first_and_last(names: Collection[str], starts: Notes) -> tuple[float, float]:
    """The times at which the first and the last of ``names`` was reconciled."""
    begun = [starts[name][0][0] for name in names]
    return min(begun), max(begun)


def _since_due(writes: Sequence[Write], until: Sequence[float | None]) -> Sequence[float]:
    return durations([each.due_at for each in writes], until)


def restart_turn(
    command_for: CommandFor,
    plane: RealControlPlane,
    number: signal.Signals,
    *,
    count: int,
    firsts: Iterator[int],
) -> Turn:
    """A turn on a shared control plane with ``count`` AppServices, which the turn restores."""

    def turn() -> Cost:
        with ExitStack() as stack:
            operator = RestartableOperator(command_for, plane, stack, count=count, firsts=firsts)
            operator.wait_for_reconciles()
            costs, writes = operator.restart(number)
        asyncio.run(_remove(Destination.of(plane.kubeconfig), HOME, writes))
        return costs

    return turn


async def _remove(to: Destination, home: str, writes: Sequence[Write]) -> None:
    await in_parallel(to, [to.request("DELETE", f"{home}/{each.name}") for each in writes])


@contextmanager
def settled_operators(
    commands_for: Mapping[str, CommandFor],
    *,
    count: int,
    optional: Collection[str] = (),
    report: Callable[[str], None] = print,
) -> Iterator[Mapping[str, RestartableOperator]]:
    """Each operator on its own control plane, where ``count`` AppServices have children.

    An ``optional`` contender that fails is omitted, and ``report`` is called with a line.
    """
    with ExitStack() as stack:
        operators: dict[str, RestartableOperator] = {}
        for name, command_for in commands_for.items():
            own = ExitStack()
            with (
                skipping_failures(name, "before", optional=optional, report=report),
                ExitStack() as acquired,
            ):
                acquired.enter_context(own)
                operator = _with_own_control_plane(command_for, own, count=count)
                operator.settle()
                stack.enter_context(acquired.pop_all())
                operators[name] = operator
        yield operators


def _with_own_control_plane(
    command_for: CommandFor, stack: ExitStack, *, count: int
) -> RestartableOperator:
    plane = stack.enter_context(cluster(controllers=False))
    children = plane.directory / "deployments", plane.directory / "services"
    for path, into in zip((DEPLOYMENTS, SERVICES), children, strict=True):
        stack.enter_context(running_watcher(plane.kubeconfig, path, into=into))
    firsts = count_from(count, NAMES_PER_RESTART)
    return RestartableOperator(
        command_for, plane, stack, count=count, firsts=firsts, children=children
    )
