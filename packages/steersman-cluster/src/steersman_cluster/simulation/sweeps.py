"""The sweep: one scenario, run with each fault in turn, must reach the same state each time."""

from collections.abc import Iterable, Sequence

from steersman_cluster.errors import DidNotSurvive, NotRepeatable
from steersman_cluster.simulation.faults import Fault, FaultKind
from steersman_cluster.simulation.nested_loop import run_nested
from steersman_cluster.simulation.scenario import Scenario
from steersman_cluster.simulation.scenario_run import RunOutcome, outcome_of
from steersman_cluster.simulation.state import as_lines, differences


async def survives_crashes(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator reaches the same state after a crash at any point.

    Each mutating call is tested three times: the operator is killed just before the call, it is
    killed just after it (the call was made, and the operator never knows), and the response is
    lost. A killed operator is built and started again. ``DidNotSurvive`` has the trace of the first
    failure, and the ``seed`` and ``only`` that replay it.
    """
    kinds = (FaultKind.BEFORE, FaultKind.AFTER, FaultKind.LOST)
    _Sweep("survives_crashes", scenario, seed).sweep(kinds, only)


async def survives_concurrent_writes(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator reaches the same state when users write at the worst moment.

    For each mutating call, the users' next write in the steps arrives at another moment: before the
    call that the operator has decided on; while it is down after a crash just before the call; and
    while it is down after a crash just after it. Users do not wait for it to settle then. The
    operator should reach the same state as if they had waited, or as if it had been down until they
    went on.
    """
    kinds = (FaultKind.OVERTAKEN, FaultKind.DOWN_BEFORE, FaultKind.DOWN_AFTER)
    _Sweep("survives_concurrent_writes", scenario, seed).sweep(kinds, only)


async def survives_cut_watches(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator reaches the same state when a watch of its is cut at any event."""
    _Sweep("survives_cut_watches", scenario, seed).sweep((FaultKind.CUT,), only)


async def survives_late_caches(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator reaches the same state when its caches are late from any point on.

    From each event of its children on, those events are late. From each of its calls on, all events
    are late, and the response to that call is lost as well.
    """
    _Sweep("survives_late_caches", scenario, seed).sweep((FaultKind.LATE, FaultKind.STALE), only)


class _Sweep:
    """One scenario and seed, run once for each fault."""

    def __init__(self, name: str, scenario: Scenario, seed: int) -> None:
        self._name = name
        self._scenario = scenario
        self._seed = seed
        self._reference = RunOutcome()
        self._absences: dict[int, RunOutcome] = {}

    def sweep(self, kinds: Iterable[FaultKind], only: str) -> None:
        """Run without faults, then with each fault, or with only one."""
        self._reference = reference = self._run()
        if only:
            self._try(Fault.named(only), reference)
            return
        self._check(None, self._run(expected=[reference], is_thorough=True))
        for kind in kinds:
            for number in reference.numbers[kind]:
                self._try(Fault(kind, number), reference)

    def _try(self, fault: Fault, reference: RunOutcome) -> None:
        outcome = self._run(fault, expected=[reference])
        if outcome.found and outcome.skipped is not None:
            # The intermediate state of an object that the operator may have missed.
            absence = self._absence(outcome.skipped)
            if not absence.is_void:
                outcome = self._run(fault, expected=[reference, absence])
        self._check(fault, outcome)

    def _check(self, fault: Fault | None, outcome: RunOutcome) -> None:
        if outcome.found:
            self._check_repeatable()
            raise DidNotSurvive(
                sweep=self._name,
                fault=str(fault) if fault else "",
                seed=self._seed,
                trace=outcome.trace,
                found=as_lines(outcome.found),
            )

    def _check_repeatable(self) -> None:
        """Run without faults once more: differences between these runs do not come from a fault."""
        before, after = self._reference, self._run()
        # What differs at one settle of the steps often differs at the next, too.
        found = [
            *dict.fromkeys(
                difference
                for place, state in before.states.items()
                if place in after.states
                for difference in differences(state, after.states[place])
            )
        ]
        calls = [len(each.numbers.get(FaultKind.BEFORE, ())) for each in (before, after)]
        if not found and calls[0] != calls[1]:
            found = [f"{calls[0]} calls that change something, and then {calls[1]}"]
        if found:
            raise NotRepeatable(seed=self._seed, found=as_lines(found))

    def _absence(self, place: int) -> RunOutcome:
        """The outcome if the operator does not run until users have gone on from there."""
        if place not in self._absences:
            self._absences[place] = run_nested(
                outcome_of(self._scenario, seed=self._seed, absent_at=place)
            )
        return self._absences[place]

    def _run(
        self,
        fault: Fault | None = None,
        *,
        expected: Sequence[RunOutcome] = (),
        is_thorough: bool = False,
    ) -> RunOutcome:
        return run_nested(
            outcome_of(
                self._scenario,
                seed=self._seed,
                fault=fault,
                expected=expected,
                is_thorough=is_thorough,
            )
        )
