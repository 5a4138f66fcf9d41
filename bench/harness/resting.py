"""What operators do when there is nothing to do, and when they look at everything again.

Each has a control plane of its own, on which it has reconciled everything itself. No
controller reconciles Deployments once it has: without a kubelet no Pod gets ready, and ten minutes
after each was made, the status of every Deployment would say so, in the middle of what should be
nothing.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness.converging import (
    SETTLE_SECONDS,
    SHOWN,
    cluster,
    converged,
    seeing_to_deployments,
    unlike,
)
from bench.harness.operators import Command, Operator, operating, resyncing
from bench.harness.requests import asked, operator_account, since
from bench.harness.rounds import Cost, Progress, sparing
from bench.harness.spans import whole_lines
from bench.harness.world import app_name
from steersman_cluster.testing import RealControlPlane

# What ends by itself some time after the last event, as kopf's workers do, has ended by then.
WINDING_DOWN_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one operator works: with whose credentials, on which control plane."""

    command: Command
    plane: RealControlPlane
    kubeconfig: Path


@contextmanager
def places(operators: Mapping[str, Command]) -> Iterator[Mapping[str, Place]]:
    """A control plane for each of them."""
    with ExitStack() as stack:
        found = {}
        for name, command in operators.items():
            plane = stack.enter_context(cluster(controllers=False))
            found[name] = Place(command=command, plane=plane, kubeconfig=operator_account(plane))
        yield found


def idle(
    at: Mapping[str, Place],
    *,
    count: int,
    seconds: float,
    rounds: int,
    progress: Progress,
    optional: Collection[str] = (),
    report: Callable[[str], None] = print,
) -> Mapping[str, Sequence[Cost]]:
    """So long, so often, with ``count`` AppServices of which nothing is wanted any more.

    All of them at the same time: idle contenders do not disturb each other. A contender that is
    ``optional`` and does not get that far is left out, and ``report`` gets a line.

    ``cpu`` is by the scheduler's nanoseconds, because it is little. What a thread used that has
    ended meanwhile is missing in it; of those that do nothing, hardly any ends.
    """
    with ExitStack() as stack:
        running: dict[str, Operator] = {}
        for name, place in at.items():
            progress(f"{count:,} AppServices for {name}")
            with sparing(name, "before", optional=optional, report=report), ExitStack() as own:
                operator = own.enter_context(operating(place.command, kubeconfig=place.kubeconfig))
                with seeing_to_deployments(place.plane):
                    converged(place.plane, operator, count=count)
                stack.enter_context(own.pop_all())
                running[name] = operator
        costs: dict[str, list[Cost]] = {name: [] for name in running}
        time.sleep(WINDING_DOWN_SECONDS)
        for number in range(rounds):
            progress(f"doing nothing for {seconds:g} s, {number + 1} of {rounds}")
            before = {name: _rested(at[name], operator) for name, operator in running.items()}
            time.sleep(seconds)
            for name, operator in running.items():
                cost = since(before[name], _rested(at[name], operator))
                costs[name].append({**cost, **operator.memory()})
    return costs


def resynced(name: str, place: Place, *, count: int, seconds: int, periods: int) -> Cost:
    """What it takes to look at all ``count`` AppServices again, every so many seconds.

    All figures are for one such period, except ``look_cpu``, which is for a single look at one.
    They count only if each AppService was looked at, and all is still as it should be.
    """
    with TemporaryDirectory() as directory:
        starts = Path(directory) / "starts"
        command = resyncing(name, place.command, seconds=seconds, starts=starts)
        with operating(command, kubeconfig=place.kubeconfig) as operator:
            operator.quiet(seconds=SETTLE_SECONDS)
            before, looks_before = so_far(place, operator), len(whole_lines(starts))
            time.sleep(seconds * periods)
            looks = whole_lines(starts)[looks_before:]
            spent = since(before, so_far(place, operator))
            memory = operator.memory()
            # At once: it looks again and again, and will not be quiet.
            confirm_looks(name, looks, unlike(place.plane, count), count=count)
    return {
        "cpu": spent["cpu"] / periods,
        "looks": len(looks) / periods / count,
        "look_cpu": spent["cpu"] / len(looks),
        "requests": spent["requests"] / periods / count,
        **memory,
    }


def confirm_looks(name: str, looks: Iterable[str], wrong: Iterable[str], *, count: int) -> None:
    """``name`` has looked at each of ``count`` AppServices, and left nothing ``wrong``.

    ``looks`` are lines as operators write them when a reconcile begins.
    """
    looked_at = {line.split()[1] for line in looks}
    missed = [each for each in map(app_name, range(count)) if each not in looked_at]
    if missed:
        shown = ", ".join(missed[:SHOWN])
        raise AssertionError(
            f"{name} did not look again at {len(missed)} of {count} AppServices: {shown}"
        )
    if found := list(islice(wrong, SHOWN)):
        raise AssertionError(f"{name} left this as it is: " + "; ".join(found))


def _rested(place: Place, operator: Operator) -> Mapping[str, float]:
    """What it has used and asked for so far, for a span in which that is next to nothing."""
    return {**so_far(place, operator), "cpu": operator.scheduled_seconds()}


def so_far(place: Place, operator: Operator) -> Mapping[str, float]:
    """What it has used and asked for so far; ``requests`` are all but watches and leases."""
    requests = asked(place.plane)
    idle_requests = requests["watches"] + requests["leases"]
    return {
        "cpu": operator.cpu_seconds(),
        "requests": sum(requests.values()) - idle_requests,
        "watches": requests["watches"],
    }
