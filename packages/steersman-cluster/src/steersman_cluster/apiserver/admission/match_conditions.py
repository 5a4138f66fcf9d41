"""Match conditions: a webhook or policy applies only if all its CEL expressions hold."""

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
    """A match condition could not be evaluated."""


class MatchConditions:
    """The match conditions of a webhook or policy, compiled once.

    An empty list of conditions always matches.
    """

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
        """Return whether all conditions are true for the CEL variables ``values``.

        One false condition makes the result False, even if other conditions cannot be evaluated.
        Otherwise, a condition that cannot be evaluated raises ``ConditionFailed``, or, if the
        failure policy is Ignore, makes the result False.
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
        """Return the evaluation errors, or None if one of the conditions is false."""
        budget, problems = Budget(CONDITIONS_BUDGET), list[str]()
        outcomes = [outcome(each, values, budget) for each in self._compiled]
        for value, problem in outcomes:
            if problem:
                problems.append(problem)
            elif value is False:
                return None
        return problems
