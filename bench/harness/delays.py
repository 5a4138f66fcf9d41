"""The delay between a change of an AppService and the operator's reaction, at several rates.

The reaction is the start of a reconcile, which the operator records, or the changed Deployment,
which a watcher in another process records.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness.convergence import SETTLE_SECONDS, SYNC_SECONDS, check_state, cluster
from bench.harness.fixtures import create_apps
from bench.harness.helper_processes import running_watcher, server_cpu_seconds, write_all
from bench.harness.operators import Command, Operator, running_operator
from bench.harness.rounds import Cost, Turn
from bench.harness.spans import (
    Write,
    deployment_times,
    durations,
    notes_in,
    percentiles,
    reconcile_times,
    writes_in,
)
from bench.harness.task import DEPLOYMENTS
from steersman_cluster.testing import RealControlPlane

POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A number of changes a second, and a duration."""

    rate: float
    seconds: float

    @property
    def changes(self) -> int:
        """The total number of changes."""
        return int(self.rate * self.seconds)

    def __str__(self) -> str:
        return f"{self.rate:g} a second"

    def of(self, costs: Sequence[Cost]) -> Sequence[Cost]:
        """The figures of this pace, without its prefix."""
        prefix = f"{self}: "
        return [
            {
                name.removeprefix(prefix): each
                for name, each in cost.items()
                if name.startswith(prefix)
            }
            for cost in costs
        ]

    def with_prefix(self, cost: Cost) -> Cost:
        """The figures with the prefix of this pace, for ``of``."""
        return {f"{self}: {name}": each for name, each in cost.items()}


def reconcile_start_turn(
    command: Command, *, count: int, paces: Sequence[Pace], sleep_ms: int
) -> Turn:
    """A turn: the delay until a reconcile starts, at one pace after the other.

    The reconcile only sleeps. If it wrote objects, the server, which shares the cores with all
    other processes, would take most of the time. There is no resulting state to check.
    """

    def turn() -> Cost:
        costs: dict[str, float] = {}
        with TemporaryDirectory() as directory, cluster(controllers=False) as plane:
            starts = Path(directory) / "starts"
            flags = ["--starts", str(starts), "--sleep-ms", str(sleep_ms)]
            with _idle_operator([*command, *flags], plane, count=count) as operator:
                for pace, writes, spent in _changes_at_each_pace(
                    plane, operator, count=count, paces=paces
                ):
                    begun = _wait_for_all(partial(_reconciles_in, starts, writes), operator)
                    responses = [each.last_response_at - each.sent_at for each in writes]
                    delays = {
                        **percentiles("due", durations([each.due_at for each in writes], begun)),
                        **percentiles("sent", durations([each.sent_at for each in writes], begun)),
                        **percentiles(
                            "answered", durations([each.last_response_at for each in writes], begun)
                        ),
                        **percentiles("answer", responses),
                    }
                    costs |= pace.with_prefix({**delays, **spent})
        return costs

    return turn


def deployment_change_turn(command: Command, *, count: int, paces: Sequence[Pace]) -> Turn:
    """A turn: the delay until the Deployment has the new size, at one pace after the other.

    No controller reconciles the Deployments. At the end, the children and the status of each
    AppService are checked.
    """

    def turn() -> Cost:
        costs: dict[str, float] = {}
        with (
            TemporaryDirectory() as directory,
            cluster(controllers=False) as plane,
            running_watcher(plane.kubeconfig, DEPLOYMENTS, into=Path(directory) / "seen"),
            _idle_operator(command, plane, count=count) as operator,
        ):
            seen = Path(directory) / "seen"
            operator.wait_until(
                f"{count} Deployments",
                lambda: len(notes_in(seen)) == count,
                poll_seconds=POLL_SECONDS,
            )
            operator.wait_until_idle(seconds=SETTLE_SECONDS)
            for pace, writes, spent in _changes_at_each_pace(
                plane, operator, count=count, paces=paces
            ):
                until = _wait_for_all(partial(_deployments_in, seen, writes), operator)
                delays = {
                    **percentiles("due", durations([each.due_at for each in writes], until)),
                    **percentiles("sent", durations([each.sent_at for each in writes], until)),
                }
                first_at = min(each.sent_at for each in writes)
                last_change_at = max(each for each in until if each is not None)
                costs |= pace.with_prefix(
                    {
                        **delays,
                        "followed_rate": len(writes) / (last_change_at - first_at),
                        **spent,
                    }
                )
            check_state(plane, operator, count)
        return costs

    return turn


def _reconciles_in(file: Path, writes: Sequence[Write]) -> Sequence[float | None]:
    return reconcile_times(writes, notes_in(file))


def _deployments_in(file: Path, writes: Sequence[Write]) -> Sequence[float | None]:
    return deployment_times(writes, notes_in(file))


def _wait_for_all(
    look: Callable[[], Sequence[float | None]], operator: Operator
) -> Sequence[float | None]:
    """Wait until ``look`` returns a time for every change, and return the times."""
    operator.wait_until(
        "every change reconciled", lambda: None not in look(), poll_seconds=POLL_SECONDS
    )
    return look()


@contextmanager
def _idle_operator(command: Command, plane: RealControlPlane, *, count: int) -> Iterator[Operator]:
    """An idle operator with ``count`` AppServices."""
    with running_operator(command, kubeconfig=plane.kubeconfig) as operator:
        operator.wait_until_idle(seconds=SYNC_SECONDS)
        asyncio.run(create_apps(plane.kubeconfig, range(count)))
        operator.wait_until_idle(seconds=SETTLE_SECONDS)
        yield operator


def _changes_at_each_pace(
    plane: RealControlPlane, operator: Operator, *, count: int, paces: Sequence[Pace]
) -> Iterator[tuple[Pace, Sequence[Write], Mapping[str, float]]]:
    """Make changes at each pace; yield the pace, the writes, and the cost."""
    firsts = accumulate((pace.changes for pace in paces), initial=0)
    with TemporaryDirectory() as directory:
        for pace, first in zip(paces, firsts, strict=False):
            into = Path(directory) / f"{pace.rate:g}"
            before_seconds = operator.cpu_seconds()
            server_before_seconds = server_cpu_seconds(plane)
            write_all(
                "change",
                plane.kubeconfig,
                f"--count={count}",
                f"--first={first}",
                f"--rate={pace.rate}",
                f"--seconds={pace.seconds}",
                into=into,
            )
            operator.wait_until_idle(seconds=SYNC_SECONDS)
            writes = writes_in(into)
            took = max(each.sent_at for each in writes) - min(each.sent_at for each in writes)
            yield (
                pace,
                writes,
                {
                    "rate": (len(writes) - 1) / took,
                    "cpu": operator.cpu_seconds() - before_seconds,
                    "server_cpu": server_cpu_seconds(plane) - server_before_seconds,
                    **operator.memory(),
                },
            )
