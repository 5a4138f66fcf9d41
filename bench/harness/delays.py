"""How long an AppService that was written waits for an operator, at one rate after another.

Until a reconcile of it begins, which the operator itself writes down; or until its Deployment has
followed, which another process watches.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness.converging import SETTLE_SECONDS, SYNC_SECONDS, cluster, confirm
from bench.harness.onlookers import server_cpu_seconds, watching, write_all
from bench.harness.operators import Command, Operator, operating
from bench.harness.rounds import Cost, Turn
from bench.harness.spans import Write, between, followed, notes_in, shares, started, writes_in
from bench.harness.task import DEPLOYMENTS
from bench.harness.world import add_apps
from steersman_cluster.testing import RealControlPlane

POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """So many changes a second, for so long."""

    rate: float
    seconds: float

    @property
    def changes(self) -> int:
        """How many there are in all."""
        return int(self.rate * self.seconds)

    def __str__(self) -> str:
        return f"{self.rate:g} a second"

    def of(self, costs: Sequence[Cost]) -> Sequence[Cost]:
        """What of these costs belongs to this pace, under names without it."""
        prefix = f"{self}: "
        return [
            {
                name.removeprefix(prefix): each
                for name, each in cost.items()
                if name.startswith(prefix)
            }
            for cost in costs
        ]

    def naming(self, cost: Cost) -> Cost:
        """The same, under names from which ``of`` knows it."""
        return {f"{self}: {name}": each for name, each in cost.items()}


def starting(command: Command, *, count: int, paces: Sequence[Pace], sleep_ms: int) -> Turn:
    """Until a reconcile begins, which only sleeps; at one pace after another.

    A server that shares two cores with all others has enough to do with the changes: if each led
    to more writes, there would be nothing to see but how long it takes for those. As it is, nothing
    comes of a reconcile that could be compared.
    """

    def turn() -> Cost:
        costs: dict[str, float] = {}
        with TemporaryDirectory() as directory, cluster(controllers=False) as plane:
            starts = Path(directory) / "starts"
            flags = ["--starts", str(starts), "--sleep-ms", str(sleep_ms)]
            with _settled([*command, *flags], plane, count=count) as operator:
                for pace, writes, spent in _paced(plane, operator, count=count, paces=paces):
                    begun = _all_of(partial(_started_in, starts, writes), operator)
                    answers = [each.last_response_at - each.sent_at for each in writes]
                    delays = {
                        **shares("due", between([each.due_at for each in writes], begun)),
                        **shares("sent", between([each.sent_at for each in writes], begun)),
                        **shares(
                            "answered", between([each.last_response_at for each in writes], begun)
                        ),
                        **shares("answer", answers),
                    }
                    costs |= pace.naming({**delays, **spent})
        return costs

    return turn


def following(command: Command, *, count: int, paces: Sequence[Pace]) -> Turn:
    """From a change of size to a Deployment of that size, at one pace after another.

    No controller reconciles the Deployments: their state is not the operator's doing. In the end,
    what each AppService has is compared with what it asks for, all but Pods.
    """

    def turn() -> Cost:
        costs: dict[str, float] = {}
        with (
            TemporaryDirectory() as directory,
            cluster(controllers=False) as plane,
            watching(plane.kubeconfig, DEPLOYMENTS, into=Path(directory) / "seen"),
            _settled(command, plane, count=count) as operator,
        ):
            seen = Path(directory) / "seen"
            operator.wait_until(
                f"{count} Deployments",
                lambda: len(notes_in(seen)) == count,
                poll_seconds=POLL_SECONDS,
            )
            operator.quiet(seconds=SETTLE_SECONDS)
            for pace, writes, spent in _paced(plane, operator, count=count, paces=paces):
                until = _all_of(partial(_followed_in, seen, writes), operator)
                delays = {
                    **shares("due", between([each.due_at for each in writes], until)),
                    **shares("sent", between([each.sent_at for each in writes], until)),
                }
                first_at = min(each.sent_at for each in writes)
                last_at = max(each for each in until if each is not None)
                costs |= pace.naming(
                    {
                        **delays,
                        "followed_rate": len(writes) / (last_at - first_at),
                        **spent,
                    }
                )
            confirm(plane, operator, count)
        return costs

    return turn


def _started_in(file: Path, writes: Sequence[Write]) -> Sequence[float | None]:
    return started(writes, notes_in(file))


def _followed_in(file: Path, writes: Sequence[Write]) -> Sequence[float | None]:
    return followed(writes, notes_in(file))


def _all_of(
    look: Callable[[], Sequence[float | None]], operator: Operator
) -> Sequence[float | None]:
    """What ``look`` finds once the operator has reconciled every change; waits for the last."""
    operator.wait_until(
        "every change reconciled", lambda: None not in look(), poll_seconds=POLL_SECONDS
    )
    return look()


@contextmanager
def _settled(command: Command, plane: RealControlPlane, *, count: int) -> Iterator[Operator]:
    """An operator that has nothing to do, with ``count`` AppServices."""
    with operating(command, kubeconfig=plane.kubeconfig) as operator:
        operator.quiet(seconds=SYNC_SECONDS)
        asyncio.run(add_apps(plane.kubeconfig, range(count)))
        operator.quiet(seconds=SETTLE_SECONDS)
        yield operator


def _paced(
    plane: RealControlPlane, operator: Operator, *, count: int, paces: Sequence[Pace]
) -> Iterator[tuple[Pace, Sequence[Write], Mapping[str, float]]]:
    """Make changes at each pace; what was written, and what it cost once all are reconciled."""
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
            operator.quiet(seconds=SYNC_SECONDS)
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
