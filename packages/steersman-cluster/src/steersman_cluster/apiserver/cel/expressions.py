"""A CEL expression over named variables: compiled once, evaluated many times."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from steersman_cluster.apiserver.cel import cel_types
from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.errors import NotCompiled

if TYPE_CHECKING:
    from steersman_cluster.apiserver.cel.compiler.planner import EvaluationPlan

_RESULTS: Final[Mapping[type, CelType]] = {
    bool: cel_types.BOOL,
    str: cel_types.STRING,
    int: cel_types.INT,
}


class Expression:
    """A compiled CEL expression."""

    __slots__ = ("_names", "_plan", "result", "text")

    def __init__(
        self, text: str, *, result: CelType, names: tuple[str, ...], plan: "EvaluationPlan"
    ) -> None:
        self.text = text
        self.result = result
        self._names = names
        self._plan = plan

    @classmethod
    def compile(
        cls,
        text: str,
        *,
        variables: Mapping[str, CelType | Literal["dyn"]],
        result: type | CelType | None = bool,
    ) -> "Expression":
        """Return the compiled expression ``text``; raise ``NotCompiled`` if it is invalid.

        ``variables`` contains the types of the variables by name, ``result`` is the required type
        of the result. If ``result`` is None, every type is accepted.
        """
        # A deferred import: a server without expressions does not load the parser.
        from steersman_cluster.apiserver.cel.compiler.compilation import checked_expression
        from steersman_cluster.apiserver.cel.compiler.planner import EvaluationPlan

        declared = {
            name: cel_types.DYN if each == "dyn" else each for name, each in variables.items()
        }
        try:
            checked = checked_expression(text, declared)
        except NotCompiled as error:
            raise NotCompiled(f"compilation failed: {error}") from None
        if result is not None:
            wanted = result if isinstance(result, CelType) else _RESULTS[result]
            if checked.result != wanted:
                raise NotCompiled(f"must evaluate to {wanted} but got {checked.result}")
        names = tuple(declared)
        return cls(text, result=checked.result, names=names, plan=EvaluationPlan(checked, names))

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """Return the value of the expression; raise ``NotEvaluated`` or ``CostExceeded``.

        ``values`` must contain a value for each variable. Timestamps, durations and similar values
        must have the types of this package; all other values are plain JSON.
        """
        return self.evaluate_with_cost(values)[0]

    def evaluate_with_cost(self, values: Mapping[str, Any]) -> tuple[Any, int]:
        """Return the value of the expression, and the cost of the evaluation.

        A raised ``NotEvaluated`` contains, in ``cost``, the cost until the failure.
        """
        return self._plan.evaluate(tuple([values[name] for name in self._names]))

    def __repr__(self) -> str:
        return f"<Expression {self.text!r}>"
