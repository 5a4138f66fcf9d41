"""The cost of idle operators, and of resyncs without changes.

Each operator has its own control plane, on which it has reconciled all AppServices. Then the
controllers of Deployments are stopped: without a kubelet no Pod becomes ready, and after ten
minutes the Deployment controller would change the status of every Deployment.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness.convergence import (
    SETTLE_SECONDS,
    SHOWN_DIFFERENCES,
    cluster,
    converge,
    running_controllers,
    wrong_state,
)
from bench.harness.fixtures import app_name
from bench.harness.operators import Command, Operator, running_operator, with_resync
from bench.harness.requests import difference, operator_account, request_counts
from bench.harness.rounds import Cost, Progress, skipping_failures
from bench.harness.spans import whole_lines
from steersman_cluster.testing import RealControlPlane

# Longer than the time after which the workers of kopf end without events.
SETTLE_DOWN_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSetup:
    """The command of an operator, its control plane and its kubeconfig."""

    command: Command
    plane: RealControlPlane
    kubeconfig: Path


@contextmanager
def operator_setups(operators: Mapping[str, Command]) -> Iterator[Mapping[str, OperatorSetup]]:
    """A control plane for each operator."""
    with ExitStack() as stack:
        found = {}
        for name, command in operators.items():
            plane = stack.enter_context(cluster(controllers=False))
            found[name] = OperatorSetup(
                command=command, plane=plane, kubeconfig=operator_account(plane)
            )
        yield found


def measure_idle(
    at: Mapping[str, OperatorSetup],
    *,
    count: int,
    seconds: float,
    rounds: int,
    progress: Progress,
    optional: Collection[str] = (),
    report: Callable[[str], None] = print,
) -> Mapping[str, Sequence[Cost]]:
    """The costs of operators that are idle for ``seconds``, with ``count`` AppServices.

    All operators run at the same time, because idle operators do not affect each other. An
    ``optional`` contender that fails is omitted, and ``report`` is called with a line.

    ``cpu`` is in the scheduler's nanoseconds, because it is small. The CPU of threads that have
    ended is missing; idle operators end hardly any.
    """
    with ExitStack() as stack:
        running: dict[str, Operator] = {}
        for name, place in at.items():
            progress(f"{count:,} AppServices for {name}")
            with (
                skipping_failures(name, "before", optional=optional, report=report),
                ExitStack() as own,
            ):
                operator = own.enter_context(
                    running_operator(place.command, kubeconfig=place.kubeconfig)
                )
                with running_controllers(place.plane):
                    converge(place.plane, operator, count=count)
                stack.enter_context(own.pop_all())
                running[name] = operator
        costs: dict[str, list[Cost]] = {name: [] for name in running}
        time.sleep(SETTLE_DOWN_SECONDS)
        for number in range(rounds):
            progress(f"idle for {seconds:g} s, {number + 1} of {rounds}")
            before = {name: _idle_usage(at[name], operator) for name, operator in running.items()}
            time.sleep(seconds)
            for name, operator in running.items():
                cost = difference(before[name], _idle_usage(at[name], operator))
                costs[name].append({**cost, **operator.memory()})
    return costs


def measure_resync(
    name: str, place: OperatorSetup, *, count: int, seconds: int, periods: int
) -> Cost:
    """The cost of resyncs of ``count`` AppServices every ``seconds``.

    The figures are for one period, except ``look_cpu``, which is for one reconcile. They count only
    if each AppService was reconciled and all children are still correct.
    """
    with TemporaryDirectory() as directory:
        starts = Path(directory) / "starts"
        command = with_resync(name, place.command, seconds=seconds, starts=starts)
        with running_operator(command, kubeconfig=place.kubeconfig) as operator:
            operator.wait_until_idle(seconds=SETTLE_SECONDS)
            before, looks_before = usage(place, operator), len(whole_lines(starts))
            time.sleep(seconds * periods)
            looks = whole_lines(starts)[looks_before:]
            spent = difference(before, usage(place, operator))
            memory = operator.memory()
            # Without waiting, because the operator is never idle here.
            check_resync(name, looks, wrong_state(place.plane, count), count=count)
    return {
        "cpu": spent["cpu"] / periods,
        "looks": len(looks) / periods / count,
        "look_cpu": spent["cpu"] / len(looks),
        "requests": spent["requests"] / periods / count,
        **memory,
    }


def check_resync(name: str, looks: Iterable[str], wrong: Iterable[str], *, count: int) -> None:
    """Check that each of ``count`` AppServices was reconciled, and that nothing is ``wrong``.

    ``looks`` are the lines that operators write at the start of each reconcile.
    """
    reconciled = {line.split()[1] for line in looks}
    missed = [each for each in map(app_name, range(count)) if each not in reconciled]
    if missed:
        shown = ", ".join(missed[:SHOWN_DIFFERENCES])
        raise AssertionError(
            f"{name} did not reconcile {len(missed)} of {count} AppServices again: {shown}"
        )
    if found := list(islice(wrong, SHOWN_DIFFERENCES)):
        raise AssertionError(f"{name} did not correct: " + "; ".join(found))


def _idle_usage(place: OperatorSetup, operator: Operator) -> Mapping[str, float]:
    """The usage of an idle operator so far, with the CPU in nanoseconds."""
    return {**usage(place, operator), "cpu": operator.scheduled_seconds()}


def usage(place: OperatorSetup, operator: Operator) -> Mapping[str, float]:
    """The CPU and the requests of an operator so far; watches and leases count separately."""
    requests = request_counts(place.plane)
    idle_requests = requests["watches"] + requests["leases"]
    return {
        "cpu": operator.cpu_seconds(),
        "requests": sum(requests.values()) - idle_requests,
        "watches": requests["watches"],
    }
