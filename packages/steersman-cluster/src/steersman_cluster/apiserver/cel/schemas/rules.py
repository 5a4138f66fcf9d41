"""One CEL validation rule of a schema: its compilation and its evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from steersman_cluster.apiserver.cel import cel_types
from steersman_cluster.apiserver.cel.compiler.checker import Checked
from steersman_cluster.apiserver.cel.compiler.compilation import checked_expression
from steersman_cluster.apiserver.cel.compiler.planner import EvaluationPlan
from steersman_cluster.apiserver.cel.errors import CostExceeded, NotCompiled, NotEvaluated
from steersman_cluster.apiserver.cel.schemas.cost_estimator import estimated
from steersman_cluster.apiserver.cel.schemas.declared_schemas import DeclType
from steersman_cluster.apiserver.cel.values import NONE, Optional
from steersman_cluster.apiserver.meta.field_errors import (
    OMITTED,
    FieldError,
    duplicate,
    forbidden,
    invalid,
    required,
)
from steersman_cluster.apiserver.schema.field_paths import BadFieldPath, resolved

# The total cost limit of all rules for one object.
RUNTIME_BUDGET: Final = 10_000_000
_MAX_MESSAGE_LENGTH: Final = 5 * 1024
_VARIABLES: Final = ("self", "oldSelf")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleProblem:
    """A compilation error of a CEL rule; ``where`` is ``rule`` or ``messageExpression``."""

    where: str
    detail: str


class Failure(NamedTuple):
    """A validation error, and whether ratcheting accepts it for unchanged values."""

    error: FieldError
    ratchets: bool


class Exhausted(Exception):
    """The cost budget is exhausted, so that no further rule is evaluated; ``error`` says why."""

    def __init__(self, error: FieldError) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationRule:
    """A compiled CEL validation rule, or the errors of its compilation."""

    written: Mapping[str, Any]
    plan: EvaluationPlan | None = None
    message_plan: EvaluationPlan | None = None
    problems: tuple[RuleProblem, ...] = ()
    uses_old: bool = False
    cost: int = 0
    message_cost: int = 0
    field_path: str = ""
    # The trimmed expression, for messages.
    shown: str = field(default="")

    @property
    def optional_old(self) -> bool:
        return bool(self.written.get("optionalOldSelf"))

    def failure(
        self,
        value: Any,
        old: Any,
        message_old: Any,
        budget: "RuleBudget",
        type_name: str,
        path: str,
    ) -> Failure | None:
        """Return the rule's validation error for ``value``; None if ``value`` is valid.

        ``old`` is the old value, or ``NONE`` if there is none. The rule's messageExpression
        receives ``message_old`` as ``oldSelf``, never as an optional. Raises ``Exhausted`` if
        ``budget`` is exceeded.
        """
        if self.plan is None:
            return self._broken(type_name, path)
        if self.uses_old and old is NONE and not self.optional_old:
            return None
        before = (Optional(old) if old is not NONE else NONE) if self.optional_old else old
        try:
            result, cost = self.plan.evaluate((value, before))
        except NotEvaluated as error:
            budget.spend(error.cost, type_name, path)
            return Failure(invalid(path, type_name, self._failed(error.message)), False)
        except CostExceeded as error:
            why = (
                f"'{error}': no further validation rules will be run due to call cost exceeds limit"
                f" for rule: {self.shown}"
            )
            raise Exhausted(invalid(path, type_name, why)) from None
        budget.spend(cost, type_name, path)
        if result is True:
            return None
        return Failure(self._false(value, message_old, budget, type_name, path), not self.uses_old)

    def _broken(self, type_name: str, path: str) -> Failure | None:
        if not self.problems:
            return None
        why = f"rule compile error: {self.problems[0].detail}"
        return Failure(invalid(path, type_name, why), False)

    def _failed(self, message: str) -> str:
        if message.startswith("no such overload"):
            return (
                f"'{message}': call arguments did not match a supported operator, function or macro"
                f" signature for rule: {self.shown}"
            )
        return f"{message} evaluating rule: {self.shown}"

    def _false(
        self, value: Any, old: Any, budget: "RuleBudget", type_name: str, path: str
    ) -> FieldError:
        if self.field_path:
            path = f"{path}.{self.field_path}" if path != "<nil>" else self.field_path
        detail = self._message(value, old, budget, type_name, path)
        reported = OMITTED if type_name in ("object", "array") else value
        match self.written.get("reason"):
            case "FieldValueForbidden":
                return forbidden(path, detail)
            case "FieldValueRequired":
                return required(path, detail)
            case "FieldValueDuplicate":
                return duplicate(path, reported)
            case _:
                return invalid(path, reported, detail)

    def _message(
        self, value: Any, old: Any, budget: "RuleBudget", type_name: str, path: str
    ) -> str:
        if self.message_plan is not None:
            text = self._message_text(self.message_plan, (value, old), budget, type_name, path)
            if text is not None:
                return text
        message = self.written.get("message") or ""
        return message.strip() if message else f"failed rule: {self.shown}"

    def _message_text(
        self,
        plan: EvaluationPlan,
        values: tuple[Any, Any],
        budget: "RuleBudget",
        type_name: str,
        path: str,
    ) -> str | None:
        """Return the text of messageExpression; None if the result cannot be used as a message."""
        why = (
            "messageExpression evaluation failed due to running out of cost budget, no further"
            " validation rules will be run"
        )
        try:
            text, cost = plan.evaluate(values)
        except NotEvaluated as error:
            budget.spend(error.cost, type_name, path, why)
            return None
        except CostExceeded:
            said = self.written["messageExpression"]
            why = (
                "no further validation rules will be run due to call cost exceeds limit for"
                f' messageExpression: "{said}"'
            )
            raise Exhausted(invalid(path, type_name, why)) from None
        budget.spend(cost, type_name, path, why)
        text = str(text).strip()
        fits = 0 < len(text.encode()) <= _MAX_MESSAGE_LENGTH and "\n" not in text
        return text if fits else None


class RuleBudget:
    """The remaining cost budget for all CEL rules of one object."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = RUNTIME_BUDGET

    def spend(
        self,
        cost: int,
        type_name: str,
        path: str,
        why: str = "validation failed due to running out of cost budget, no further validation"
        " rules will be run",
    ) -> None:
        if cost > self.left:
            raise Exhausted(invalid(path, type_name, why))
        self.left -= cost


def compiled_rule(
    written: Mapping[str, Any],
    declared: DeclType,
    schema: Mapping[str, Any],
    *,
    estimates: bool,
) -> ValidationRule:
    """Return the compiled CEL rule ``written`` of the schema ``schema``.

    ``declared`` is the declaration of the schema. The maximum cost of the rule is estimated only if
    ``estimates`` is true.
    """
    text = written.get("rule") or ""
    shown = (written.get("message") or "").strip() or text.strip()
    if not text.strip():
        return ValidationRule(written=written, shown=shown)
    optional = written.get("optionalOldSelf")
    types = {
        "self": declared.type,
        "oldSelf": cel_types.optional_of(declared.type) if optional else declared.type,
    }
    try:
        checked = checked_expression(text, types)
    except NotCompiled as error:
        return _uncompiled(written, shown, f"compilation failed: {error}")
    if checked.result != cel_types.BOOL:
        return _uncompiled(written, shown, "cel expression must evaluate to a bool")
    try:
        plan = EvaluationPlan(checked, _VARIABLES)
    except NotCompiled as error:
        return _uncompiled(written, shown, str(error), uses_old=_uses_old(checked))
    message = _compiled_message(written, types, declared if estimates else None)
    return ValidationRule(
        written=written,
        shown=shown,
        plan=plan,
        uses_old=_uses_old(checked),
        cost=estimated(checked, declared).maximum if estimates else 0,
        message_plan=message.plan,
        message_cost=message.cost,
        problems=message.problems,
        field_path=_field_path(written.get("fieldPath") or "", schema),
    )


def _uncompiled(
    written: Mapping[str, Any], shown: str, detail: str, *, uses_old: bool = False
) -> ValidationRule:
    problems = (RuleProblem(where="rule", detail=detail),)
    return ValidationRule(written=written, shown=shown, problems=problems, uses_old=uses_old)


def _uses_old(checked: Checked) -> bool:
    return "oldSelf" in checked.idents.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    plan: EvaluationPlan | None = None
    cost: int = 0
    problems: tuple[RuleProblem, ...] = ()


def _compiled_message(
    written: Mapping[str, Any],
    types: Mapping[str, cel_types.CelType],
    declared: DeclType | None,
) -> _Message:
    text = written.get("messageExpression") or ""
    if not text:
        return _Message()
    try:
        checked = checked_expression(text, types)
        if checked.result != cel_types.STRING:
            raise NotCompiled("messageExpression must evaluate to a string")
        plan = EvaluationPlan(checked, _VARIABLES)
    except NotCompiled as error:
        detail = str(error)
        if detail.startswith("program instantiation"):
            detail = f"messageExpression {detail.removeprefix('program ')}"
        elif not detail.startswith("messageExpression"):
            detail = f"messageExpression compilation failed: {detail}"
        return _Message(problems=(RuleProblem(where="messageExpression", detail=detail),))
    return _Message(plan=plan, cost=0 if declared is None else estimated(checked, declared).maximum)


def _field_path(path: str, schema: Mapping[str, Any]) -> str:
    """Return the path in the format of error messages."""
    if not path:
        return ""
    try:
        steps = resolved(path, schema).steps
    except BadFieldPath:
        return ""
    shown = ""
    for step in steps:
        if schema.get("properties"):
            shown += f".{step}" if shown else step
            schema = schema["properties"][step]
        else:
            shown += f"[{step}]"
            schema = schema["additionalProperties"]
    return shown
