"""The evaluation of CEL expressions for admission: each yields a value or an error."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from steersman_cluster.apiserver.builtin.cluster.admission_expressions import Compiled
from steersman_cluster.apiserver.cel import CostExceeded, NotCompiled, NotEvaluated

# The cost limit of one evaluation; an evaluation that is stopped at the limit costs this much.
MAX_COST = 1_000_000


class OutOfBudget(Exception):
    """The cost budget for the CEL expressions of a policy is exhausted."""

    def __init__(self) -> None:
        super().__init__(
            "validation failed due to running out of cost budget, no further validation rules will"
            " be run"
        )


class Outcome(NamedTuple):
    """The result of one CEL expression: ``value``, or the error text ``problem``.

    The error text is worded as in kube-apiserver.
    """

    value: Any = None
    problem: str = ""


class Budget:
    """The remaining cost budget for CEL expressions."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, cost: int) -> None:
        """Subtract ``cost`` from the budget; raise ``OutOfBudget`` if the budget is exceeded."""
        self.left -= cost
        if self.left < 0:
            raise OutOfBudget


def outcome(expression: Compiled, values: Mapping[str, Any], budget: Budget) -> Outcome:
    """Return the value or the error of ``expression``; subtract its cost from ``budget``.

    Raises ``OutOfBudget`` if the cost exceeds the budget.
    """
    if isinstance(expression, NotCompiled):
        return Outcome(problem=f"compilation error: {expression}")
    try:
        value, cost = expression.evaluate_with_cost(values)
        found = Outcome(value)
    except (NotEvaluated, CostExceeded) as problem:
        cost = problem.cost if isinstance(problem, NotEvaluated) else MAX_COST
        found = Outcome(problem=f"expression '{expression.text}' resulted in error: {problem}")
    budget.spend(cost)
    return found


def aggregated(problems: Sequence[str]) -> str:
    """Join several error texts into one text, without duplicates."""
    different = list(dict.fromkeys(problems))
    return different[0] if len(different) == 1 else f"[{', '.join(different)}]"


class Variables(dict[str, Any]):
    """The variables of a policy by name; each is evaluated when an expression first reads it."""

    def __init__(
        self, expressions: Mapping[str, Compiled], values: Mapping[str, Any], budget: Budget
    ) -> None:
        super().__init__()
        self._expressions = expressions
        self._values = {**values, "variables": self}
        self._budget = budget

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of the variable ``name``; ``default`` if the policy does not define it.

        Raises ``NotEvaluated`` if the evaluation of the variable's expression failed.
        """
        if name not in self._expressions:
            return default
        if name not in self:
            self[name] = self._evaluated(name, self._expressions[name])
        found = self[name]
        if isinstance(found, NotEvaluated):
            raise found
        return found

    def _evaluated(self, name: str, expression: Compiled) -> Any:
        if isinstance(expression, NotCompiled):
            return NotEvaluated(f'composited variable "{name}" fails to compile: {expression}')
        try:
            value, cost = expression.evaluate_with_cost(self._values)
        except (NotEvaluated, CostExceeded) as problem:
            cost = problem.cost if isinstance(problem, NotEvaluated) else MAX_COST
            value = NotEvaluated(f'composited variable "{name}" fails to evaluate: {problem}')
        self._budget.spend(cost)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._expressions)
