"""The sweep: one scenario, run with each fault in turn, must reach the same state each time."""

from collections.abc import Iterable, Sequence

from steersman_cluster.errors import DidNotSurvive, NotRepeatable
from steersman_cluster.simulation.faults import Fault, FaultKind
from steersman_cluster.simulation.nested_loop import run_nested
from steersman_cluster.simulation.scenario import Scenario
from steersman_cluster.simulation.scenario_run import Outcome, outcome_of
from steersman_cluster.simulation.state import as_lines, differences


async def survives_crashes(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator comes to the same, wherever it crashes.

    For each of its calls that change something: killed just before the call, killed just after it
    (so that it was made, and the operator never knew), and with the answer lost. A killed operator
    is built and started again. ``DidNotSurvive`` has the trace of the first failure, and which
    ``seed`` and ``only`` replay it.
    """
    kinds = (FaultKind.BEFORE, FaultKind.AFTER, FaultKind.LOST)
    _Sweep("survives_crashes", scenario, seed).sweep(kinds, only)


async def survives_concurrent_writes(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator comes to the same, wherever users write at the wrong moment.

    For each of its calls that change something, what users do next in the steps happens: before the
    call that the operator has decided on, while it is down after a crash just before the call, and
    while it is down after a crash just after it. Users do not wait for it to settle then. It should
    come to the same as if they had, or as if it had not run until they went on.
    """
    kinds = (FaultKind.OVERTAKEN, FaultKind.DOWN_BEFORE, FaultKind.DOWN_AFTER)
    _Sweep("survives_concurrent_writes", scenario, seed).sweep(kinds, only)


async def survives_cut_watches(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator comes to the same, at whichever event a watch of its is cut."""
    _Sweep("survives_cut_watches", scenario, seed).sweep((FaultKind.CUT,), only)


async def survives_late_caches(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator comes to the same, from whenever on its caches are late.

    From each event of its children on, those events are late; and from each of its calls on, all
    events are, where the answer to the call was lost as well.
    """
    _Sweep("survives_late_caches", scenario, seed).sweep((FaultKind.LATE, FaultKind.STALE), only)


class _Sweep:
    """One scenario and seed, run as often as there are faults."""

    def __init__(self, name: str, scenario: Scenario, seed: int) -> None:
        self._name = name
        self._scenario = scenario
        self._seed = seed
        self._reference = Outcome()
        self._absences: dict[int, Outcome] = {}

    def sweep(self, kinds: Iterable[FaultKind], only: str) -> None:
        """Run without faults, then with each, or only one."""
        self._reference = reference = self._run()
        if only:
            self._try(Fault.named(only), reference)
            return
        self._check(None, self._run(expected=[reference], is_thorough=True))
        for kind in kinds:
            for number in reference.numbers[kind]:
                self._try(Fault(kind, number), reference)

    def _try(self, fault: Fault, reference: Outcome) -> None:
        outcome = self._run(fault, expected=[reference])
        if outcome.found and outcome.skipped is not None:
            # What came of an object in between, which the operator need not have known.
            absence = self._absence(outcome.skipped)
            if not absence.is_void:
                outcome = self._run(fault, expected=[reference, absence])
        self._check(fault, outcome)

    def _check(self, fault: Fault | None, outcome: Outcome) -> None:
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
        """Run without faults once more: where that differs, no fault is to blame."""
        before, after = self._reference, self._run()
        # What differs at one rest of the steps often does at the next, too.
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

    def _absence(self, place: int) -> Outcome:
        """What it comes to if the operator does not run until users have gone on from there."""
        if place not in self._absences:
            self._absences[place] = run_nested(
                outcome_of(self._scenario, seed=self._seed, absent_at=place)
            )
        return self._absences[place]

    def _run(
        self,
        fault: Fault | None = None,
        *,
        expected: Sequence[Outcome] = (),
        is_thorough: bool = False,
    ) -> Outcome:
        return run_nested(
            outcome_of(
                self._scenario,
                seed=self._seed,
                fault=fault,
                expected=expected,
                is_thorough=is_thorough,
            )
        )
