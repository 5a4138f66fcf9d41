"""Sweeps: execute a scenario with each possible fault, and require the same state."""

from collections.abc import Iterable, Sequence

from steersman_cluster.errors import CrashSweepFailed, NotDeterministic
from steersman_cluster.simulation.nested_loop import run_nested
from steersman_cluster.simulation.scenarios.faults import Fault, FaultKind
from steersman_cluster.simulation.scenarios.scenario import Scenario
from steersman_cluster.simulation.scenarios.scenario_run import RunOutcome, outcome_of
from steersman_cluster.simulation.scenarios.state import as_lines, differences


async def survives_crashes(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator reaches the same state after a crash at any mutating call.

    Each mutating call is tested with three faults. The operator is killed just before the call; or
    it is killed just after the call, so that the call took effect but the operator received no
    response; or it keeps running, and only the response is lost. A killed operator is built again
    and started again. The error ``CrashSweepFailed`` contains the trace of the first failure, and
    the values of ``seed`` and ``only`` with which to replay it.
    """
    kinds = (FaultKind.BEFORE, FaultKind.AFTER, FaultKind.LOST)
    _Sweep("survives_crashes", scenario, seed).sweep(kinds, only)


async def survives_concurrent_writes(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator reaches the same state when users write at the worst moment.

    At each mutating call, the users' next write in the steps is made at one of three moments: just
    before the call, which the operator has already decided on; while the operator is down after a
    crash just before the call; or while it is down after a crash just after the call. With these
    faults, users do not wait until the operator has settled. The operator should reach the same
    state as if users had waited, or as if the operator had been down until users continued.
    """
    kinds = (FaultKind.OVERTAKEN, FaultKind.DOWN_BEFORE, FaultKind.DOWN_AFTER)
    _Sweep("survives_concurrent_writes", scenario, seed).sweep(kinds, only)


async def survives_cut_watches(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator reaches the same state after a watch is cut at any event."""
    _Sweep("survives_cut_watches", scenario, seed).sweep((FaultKind.CUT,), only)


async def survives_late_caches(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator reaches the same state if watch events are delayed.

    The operator's caches are then late. One sweep tests two kinds of faults. At each watch event of
    the operator's child objects, this event and the later ones of the same watch are delayed. At
    each mutating call of the operator, the events of all its watches are delayed, and the response
    to that call is lost.
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
        """Run the scenario without faults, then with each fault, or with only one."""
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
            raise CrashSweepFailed(
                sweep=self._name,
                fault=str(fault) if fault else "",
                seed=self._seed,
                trace=outcome.trace,
                found=as_lines(outcome.found),
            )

    def _check_repeatable(self) -> None:
        """Run the scenario without faults once more, and raise ``NotDeterministic`` if the result
        differs.

        A difference between two such runs is not the effect of a fault.
        """
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
            found = [f"{calls[0]} mutating calls, and then {calls[1]}"]
        if found:
            raise NotDeterministic(seed=self._seed, found=as_lines(found))

    def _absence(self, place: int) -> RunOutcome:
        """Return the outcome if the operator is down from the ``settle`` with index ``place`` until
        users continue.
        """
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
