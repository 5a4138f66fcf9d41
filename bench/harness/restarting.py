"""An operator that has many AppServices is restarted while new ones arrive.

Either a reconcile only sleeps: all operators then share a control plane, on which they leave
nothing that could be compared. Or each does its work on a control plane of its own, where all is as
it leaves it, and runs there from one turn to the next; what every AppService has is then compared
with what it asks for, before the first turn and at the end of each, all but Pods.
"""

import asyncio
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count as count_from
from pathlib import Path
from typing import TypeAlias

from bench.harness.children import PATIENCE_SECONDS, part
from bench.harness.converging import (
    SERVICES,
    SETTLE_SECONDS,
    SYNC_SECONDS,
    cluster,
    confirm,
)
from bench.harness.load import Destination, in_parallel
from bench.harness.onlookers import server_cpu_seconds, watching, writing
from bench.harness.operators import Command, Operator, operating
from bench.harness.rounds import Cost, Turn, sparing
from bench.harness.spans import (
    Notes,
    Write,
    between,
    followed,
    line_count,
    notes_in,
    reached_at,
    shares,
    started,
    writes_in,
)
from bench.harness.task import DEPLOYMENTS
from bench.harness.world import HOME, add_apps, app_name
from steersman_cluster.testing import RealControlPlane

NEW_A_SECOND = 20.0

# New ones arrive for so long before the operator is stopped, and go on for so long after all
# the others have had their turn; all in all for at least so long after that moment.
BEFORE_SECONDS = 1.0
AFTER_SECONDS = 3.0
MIN_SECONDS = 10.0

# No contender takes longer than this.
MAX_SECONDS = PATIENCE_SECONDS

# Names for new ones, from one restart to the next: more than there can be.
ROOM = 20_000

# An operator that has begun with so many is under way.
UNDER_WAY = 500

POLL_SECONDS = 0.5

# How it is started so that it writes down each reconcile's first moment in this file.
Noting: TypeAlias = Callable[[Path], Command]


class Restarted:
    """An operator that runs, and can be restarted, on a control plane with ``count`` AppServices.

    ``firsts`` are numbers from which those of new ones count; ``children`` are files in which is
    noted when a Deployment and a Service were seen, or none if it makes none.
    """

    def __init__(
        self,
        noting: Noting,
        plane: RealControlPlane,
        stack: ExitStack,
        *,
        count: int,
        firsts: Iterator[int],
        children: Sequence[Path] = (),
    ) -> None:
        self._noting = noting
        self._plane = plane
        self._stack = stack
        self._count = count
        self._firsts = firsts
        self._children = children
        self._starts, self._operator = self._begun()

    def get_under_way(self) -> None:
        """Wait until it has begun to look at what there is."""
        enough = min(UNDER_WAY, self._count)
        self._operator.wait_until(
            f"{enough} reconciles begun",
            lambda: line_count(self._starts) >= enough,
            poll_seconds=POLL_SECONDS,
        )

    def settle(self) -> None:
        """Create the AppServices, and wait until all have their children."""
        self._operator.quiet(seconds=SYNC_SECONDS)
        asyncio.run(add_apps(self._plane.kubeconfig, range(self._count)))
        self._operator.wait_until(
            f"{self._count} Deployments and Services",
            lambda: all(len(notes_in(file)) >= self._count for file in self._children),
            poll_seconds=POLL_SECONDS,
        )
        # No kubelet runs Pods here: they would be work for all but the operator.
        confirm(self._plane, self._operator, self._count)

    def confirm(self, new: Sequence[Write]) -> None:
        """Those that were there and these new ones are as they should be; an error, if not."""
        # Who creates them is stopped at any time, and may have had one more on its way.
        confirm(self._plane, self._operator, self._count + len(new), or_more=True)

    def remove(self, new: Sequence[Write]) -> None:
        """Leave the world as it was before these came, and the operator at rest."""
        # There is no garbage collection here; and an operator that does not know yet
        # that it is gone would create it again.
        homes = (HOME, DEPLOYMENTS, SERVICES) if self._children else (HOME,)
        for home in homes:
            self._operator.quiet(seconds=SYNC_SECONDS)
            asyncio.run(_remove(Destination.of(self._plane.kubeconfig), home, new))
        self._operator.quiet(seconds=SETTLE_SECONDS)

    def restart(self, number: signal.Signals) -> tuple[Cost, Sequence[Write]]:
        """End it by this signal and restart it; how long later objects wait.

        ``first`` and ``through`` are from the signal until one that was there, and each, has been
        looked at again; ``busy`` is the wait of those who came in between, if any did.
        """
        before = self._starts
        first = next(self._firsts)
        into = self._plane.directory / f"new-{first}"
        flags = [f"--first={first}", f"--rate={NEW_A_SECOND}", f"--seconds={MAX_SECONDS}"]
        with writing("create", self._plane.kubeconfig, *flags, into=into):
            time.sleep(BEFORE_SECONDS)
            server_before_seconds = server_cpu_seconds(self._plane)
            stopped_at = time.monotonic()
            self._operator.process.send_signal(number)
            part(self._operator.process, within_seconds=MAX_SECONDS)
            self._starts, self._operator = self._begun()
            first_at, through_at = self._looked_at_again()
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
            **shares("start", _since_due(new, started(new, starts))),
            # Without new objects while others queued, there is no wait to report.
            **(shares("busy", _since_due(busy, started(busy, starts))) if busy else {}),
            "first": first_at - stopped_at,
            "through": through_at - stopped_at,
            **spent,
        }
        if self._children:
            costs |= shares("children", _since_due(new, self._children_of(new)))
        return costs, writes

    def _begun(self) -> tuple[Path, Operator]:
        starts = self._plane.directory / f"starts-{time.monotonic_ns()}"
        operating_it = operating(self._noting(starts), kubeconfig=self._plane.kubeconfig)
        return starts, self._stack.enter_context(operating_it)

    def _looked_at_again(self) -> tuple[float, float]:
        """When the first and the last of those that were there had their turn; waits for it."""
        names = {app_name(number) for number in range(self._count)}
        self._operator.wait_until(
            f"all of {self._count} AppServices looked at again",
            lambda: (
                line_count(self._starts) >= self._count and names <= notes_in(self._starts).keys()
            ),
            poll_seconds=POLL_SECONDS,
        )
        return first_and_last(names, notes_in(self._starts))

    def _reconciled(self, new: Sequence[Write], before: Path) -> Sequence[float | None]:
        begun = started(new, notes_in(before, self._starts))
        return [*begun, *self._children_of(new)] if self._children else begun

    def _children_of(self, new: Sequence[Write]) -> Sequence[float | None]:
        """For each, when both were seen."""
        deployments, services = map(notes_in, self._children)
        seen = zip(
            followed(new, deployments),
            (reached_at(services, each.name, 0) for each in new),
            strict=True,
        )
        return [
            None if one_at is None or other_at is None else max(one_at, other_at)
            for one_at, other_at in seen
        ]


def first_and_last(names: Collection[str], starts: Notes) -> tuple[float, float]:
    """When the first of ``names`` began, and when all had begun; whatever else began meanwhile."""
    begun = [starts[name][0][0] for name in names]
    return min(begun), max(begun)


def _since_due(writes: Sequence[Write], until: Sequence[float | None]) -> Sequence[float]:
    return between([each.due_at for each in writes], until)


def restarting(
    noting: Noting,
    plane: RealControlPlane,
    number: signal.Signals,
    *,
    count: int,
    firsts: Iterator[int],
) -> Turn:
    """On a control plane that has ``count`` AppServices, which is left as it was."""

    def turn() -> Cost:
        with ExitStack() as stack:
            operator = Restarted(noting, plane, stack, count=count, firsts=firsts)
            operator.get_under_way()
            costs, writes = operator.restart(number)
        asyncio.run(_remove(Destination.of(plane.kubeconfig), HOME, writes))
        return costs

    return turn


async def _remove(to: Destination, home: str, writes: Sequence[Write]) -> None:
    await in_parallel(to, [to.request("DELETE", f"{home}/{each.name}") for each in writes])


@contextmanager
def settled(
    notings: Mapping[str, Noting],
    *,
    count: int,
    optional: Collection[str] = (),
    report: Callable[[str], None] = print,
) -> Iterator[Mapping[str, Restarted]]:
    """Each operator on a control plane of its own, where ``count`` AppServices have children.

    A contender that is ``optional`` and does not get that far is left out, and ``report`` gets a
    line.
    """
    with ExitStack() as stack:
        operators: dict[str, Restarted] = {}
        for name, noting in notings.items():
            own = ExitStack()
            with (
                sparing(name, "before", optional=optional, report=report),
                ExitStack() as until_then,
            ):
                until_then.enter_context(own)
                operator = _on_its_own(noting, own, count=count)
                operator.settle()
                stack.enter_context(until_then.pop_all())
                operators[name] = operator
        yield operators


def _on_its_own(noting: Noting, stack: ExitStack, *, count: int) -> Restarted:
    plane = stack.enter_context(cluster(controllers=False))
    children = plane.directory / "deployments", plane.directory / "services"
    for path, into in zip((DEPLOYMENTS, SERVICES), children, strict=True):
        stack.enter_context(watching(plane.kubeconfig, path, into=into))
    firsts = count_from(count, ROOM)
    return Restarted(noting, plane, stack, count=count, firsts=firsts, children=children)
