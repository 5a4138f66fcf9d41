"""Match conditions: expressions that all have to hold for a webhook or policy to be asked."""

from collections.abc import Mapping, Sequence
from typing import Any

from steersman_cluster.apiserver.admission.evaluation import (
    Budget,
    OutOfBudget,
    aggregated,
    outcome,
)
from steersman_cluster.apiserver.builtin.cluster.admission_expressions import compiled
from steersman_cluster.apiserver.cel import CelType

# What may be spent on the conditions of one webhook or policy for one request.
CONDITIONS_BUDGET = 2_500_000


class ConditionFailed(Exception):
    """One of them can be neither true nor false."""


class Conditions:
    """Compiled once; none at all always hold."""

    def __init__(
        self,
        written: Sequence[Mapping[str, Any]],
        variables: Mapping[str, CelType],
        *,
        ignores_failure: bool,
    ) -> None:
        self._compiled = [compiled(each.get("expression", ""), variables) for each in written]
        self._ignores_failure = ignores_failure

    def __bool__(self) -> bool:
        return bool(self._compiled)

    def all_match(self, values: Mapping[str, Any]) -> bool:
        """Whether all of them do.

        One that is false settles it. Otherwise one that fails does: ``ConditionFailed``, unless
        failures are ignored, and then so is the request.
        """
        try:
            found = self._found(values)
        except OutOfBudget as problem:
            found = [str(problem)]
        if found is None:
            return False
        if found and not self._ignores_failure:
            raise ConditionFailed(aggregated(found))
        return not found

    def _found(self, values: Mapping[str, Any]) -> list[str] | None:
        """The problems; None where one of the conditions is false."""
        budget, problems = Budget(CONDITIONS_BUDGET), list[str]()
        outcomes = [outcome(each, values, budget) for each in self._compiled]
        for value, problem in outcomes:
            if problem:
                problems.append(problem)
            elif value is False:
                return None
        return problems
