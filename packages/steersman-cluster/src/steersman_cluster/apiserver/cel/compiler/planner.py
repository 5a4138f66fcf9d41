"""The planner: from a checked tree to the steps that evaluate it and count the cost."""

import operator
from collections.abc import Mapping
from typing import Any, Final

from steersman_cluster.apiserver.cel import cel_types, nodes
from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.compiler import steps
from steersman_cluster.apiserver.cel.compiler.call_costs import meter_of
from steersman_cluster.apiserver.cel.compiler.checker import Checked
from steersman_cluster.apiserver.cel.compiler.declarations import TYPE_NAMES
from steersman_cluster.apiserver.cel.compiler.dispatch import CONVERSIONS, implementation
from steersman_cluster.apiserver.cel.compiler.macros import ACCUMULATOR
from steersman_cluster.apiserver.cel.compiler.steps import LIMIT, Constant, Frame, Step
from steersman_cluster.apiserver.cel.errors import CostExceeded, NotCompiled, NotEvaluated
from steersman_cluster.apiserver.cel.field_selection import looked_up
from steersman_cluster.apiserver.cel.values import NONE, Function, kind_of

# Names whose value may be an error: accumulators and the old value.
_UNCERTAIN: Final = frozenset((ACCUMULATOR, "__result__", "oldSelf"))
_SCALARS: Final = frozenset(("bool", "int", "uint", "double"))
# Without doubles, because NaN has no order.
_QUICK: Final = frozenset(("bool", "int", "uint"))
_ORDERS: Final[Mapping[str, Function]] = {
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
    "_==_": operator.eq,
    "_!=_": operator.ne,
}


class EvaluationPlan:
    """A compiled expression, ready for evaluation."""

    __slots__ = ("_extra", "_run")

    def __init__(self, checked: Checked, variables: tuple[str, ...]) -> None:
        """Plan the steps that evaluate ``checked``; ``variables`` are the names of its variables.

        Raises ``NotCompiled`` if a constant part of the expression fails.
        """
        planner = _Planner(checked, variables)
        self._run = planner.plan(checked.tree.root)
        self._extra = planner.most_slots - len(variables) - 1

    def evaluate(self, values: tuple[Any, ...]) -> tuple[Any, int]:
        """Return the value of the expression, and the cost of the evaluation.

        ``values`` are the values of the variables. A raised ``NotEvaluated`` contains, in ``cost``,
        the cost until the failure.
        """
        frame: Frame = [0, *values]
        if self._extra:
            frame += [None] * self._extra
        try:
            result = self._run(frame)
        except NotEvaluated as error:
            error.cost = frame[0]
            raise
        if frame[0] > LIMIT:
            raise CostExceeded
        return result, frame[0]


class _Planner:
    def __init__(self, checked: Checked, variables: tuple[str, ...]) -> None:
        self._checked = checked
        self._slots = {name: slot for slot, name in enumerate(variables, start=1)}
        self._next = self.most_slots = len(variables) + 1
        # Accumulators that are unshared lists, so that they can grow in place.
        self._growing: frozenset[str] = frozenset()

    def plan(self, node: nodes.Node) -> Step:
        if node.id in self._checked.idents:
            return self._ident(self._checked.idents[node.id])
        match node:
            case nodes.Literal(value=value):
                return Constant(value)
            case nodes.Select():
                return self._select(node)
            case nodes.FunctionCall():
                return self._call(node)
            case nodes.ListLiteral():
                return self._list(node)
            case nodes.MapLiteral():
                return self._map(node)
            case nodes.Fold():
                return self._fold(node)
            case _:
                raise AssertionError(f"{node} passed the checker")

    def _plans(self, all_of: tuple[nodes.Node, ...]) -> tuple[Step, ...]:
        return tuple(map(self.plan, all_of))

    def _type(self, node: nodes.Node) -> CelType:
        return self._checked.types[node.id]

    def _ident(self, name: str) -> Step:
        if name not in self._slots:
            return Constant(TYPE_NAMES[name])
        slot = self._slots[name]
        return steps.uncertain(slot) if name in _UNCERTAIN else steps.variable(slot)

    def _chain(self, node: nodes.Node) -> tuple[Step, int]:
        """Return the step for ``node``, the operand of a selection, and the cost of the selection.

        The cost is higher if the path starts with a computed value instead of a variable.
        """
        step = self.plan(node)
        begins = not isinstance(node, nodes.Select) and not _is_index(node, "_?_:_")
        return step, 2 if begins and node.id not in self._checked.idents else 1

    def _select(self, node: nodes.Select) -> Step:
        operand, cost = self._chain(node.operand)
        is_object = self._type(node.operand).kind == "object"
        name = looked_up(node.field) if is_object else node.field
        if node.test_only:
            return steps.presence(operand, name, cost - 1)
        if is_object:
            return steps.field_of_object(operand, node.field, name, cost)
        return steps.selection(operand, name, cost)

    def _call(self, node: nodes.FunctionCall) -> Step:
        function = self._checked.functions.get(node.id, node.function)
        args = node.args
        if node.target is not None and node.id not in self._checked.functions:
            args = (node.target, *args)
        match function:
            case "_&&_" | "_||_":
                first, second = self._plans(args)
                return steps.logical(first, second, absorbing=function == "_||_")
            case "_?_:_":
                return steps.conditional(
                    self.plan(args[0]), self._branch(args[1]), self._branch(args[2])
                )
            case "@not_strictly_false":
                return steps.not_strictly_false(self.plan(args[0]))
            case "dyn":
                step = self.plan(args[0])
                return step if isinstance(step, Constant) else steps.with_cost(step, 1)
            case "_[_]" | "_[?_]":
                operand, cost = self._chain(args[0])
                index = self._branch(args[1])
                return steps.element(operand, index, cost, optional=function == "_[?_]")
            case "_?._":
                return self._optional_select(args[0], args[1])
            case "or" | "orValue":
                first, second = self._plans(args)
                return steps.alternative(first, second, unwraps=function == "orValue")
            case "_+_" if (append_step := self._append_step(args[0], args[1])) is not None:
                return append_step
            case "@in" if (membership := self._membership(node, args[0], args[1])) is not None:
                return membership
            case _:
                return self._plain_call(node, function, args)

    def _plain_call(
        self, node: nodes.FunctionCall, function: str, args: tuple[nodes.Node, ...]
    ) -> Step:
        planned = self._plans(args)
        overloads = self._checked.overloads[node.id]
        types = [self._type(each) for each in args]
        constants = tuple([each.value if isinstance(each, Constant) else NONE for each in planned])
        call = implementation(function, overloads, types, constants)
        if function in CONVERSIONS and isinstance(planned[0], Constant):
            try:
                return Constant(call(planned[0].value))
            except NotEvaluated as error:
                raise NotCompiled(f"program instantiation failed: {error}") from None
        if function in _ORDERS and all(each.kind in _QUICK for each in types):
            return steps.call_of(_ORDERS[function], planned, None)
        meter = meter_of(function, overloads[0] if len(overloads) == 1 else None)
        return steps.call_of(call, planned, meter)

    def _branch(self, node: nodes.Node) -> Step:
        """Plan an alternative or an index, in which the first variable of a path costs nothing."""
        step = self.plan(node)
        is_path = isinstance(node, nodes.Select) and not node.test_only
        is_path = is_path or isinstance(node, nodes.Ident) or _is_index(node)
        return steps.with_cost(step, -1) if is_path and not isinstance(step, Constant) else step

    def _optional_select(self, within: nodes.Node, field: nodes.Node) -> Step:
        operand, cost = self._chain(within)
        of, _ = cel_types.unwrapped(self._type(within))
        name = field.value if isinstance(field, nodes.Literal) else ""
        index = Constant(looked_up(name) if of.kind == "object" else name)
        return steps.element(operand, index, cost, optional=True)

    def _append_step(self, first: nodes.Node, second: nodes.Node) -> Step | None:
        if not isinstance(first, nodes.Ident) or first.name not in self._growing:
            return None
        if not isinstance(second, nodes.ListLiteral) or second.optional:
            return None
        return steps.append_step(self._slots[first.name], self._plans(second.elements))

    def _membership(
        self, node: nodes.FunctionCall, wanted: nodes.Node, within: nodes.Node
    ) -> Step | None:
        members = self.plan(within)
        if not isinstance(members, Constant) or self._checked.overloads[node.id] != ("in_list",):
            return None
        if not members.value:
            return Constant(False)
        if not all(kind_of(each) in (*_SCALARS, "string") for each in members.value):
            return None
        return steps.membership(self.plan(wanted), members.value)

    def _list(self, node: nodes.ListLiteral) -> Step:
        elements = self._plans(node.elements)
        constants = [each.value for each in elements if isinstance(each, Constant)]
        if not node.optional and len(constants) == len(elements):
            return Constant(constants)
        return steps.new_list(elements, node.optional)

    def _map(self, node: nodes.MapLiteral) -> Step:
        entries = [
            (self.plan(each.key), self.plan(each.value), each.optional) for each in node.entries
        ]
        step = steps.new_map(entries)
        is_constant = all(
            isinstance(key, Constant) and isinstance(value, Constant) and not optional
            for key, value, optional in entries
        )
        return Constant(step([0])) if is_constant else step

    def _fold(self, node: nodes.Fold) -> Step:
        over, initial = self.plan(node.range), self.plan(node.initial)
        before, slot, growing = dict(self._slots), self._next, self._growing
        self._next += 3
        self.most_slots = max(self.most_slots, self._next)
        self._slots[node.accumulator] = slot
        result = self.plan(node.result)
        self._slots[node.variable] = slot + 1
        if node.second_variable is not None:
            self._slots[node.second_variable] = slot + 2
        begins_empty = isinstance(node.initial, nodes.ListLiteral) and not node.initial.elements
        self._growing = growing - {node.accumulator} | (
            {node.accumulator} if begins_empty else frozenset()
        )
        condition, step = self.plan(node.condition), self.plan(node.step)
        self._slots, self._next, self._growing = before, slot, growing
        return steps.loop(
            over,
            None if begins_empty else initial,
            condition,
            step,
            result,
            slot=slot,
            takes_two=node.second_variable is not None,
        )


def _is_index(node: nodes.Node, *more: str) -> bool:
    return isinstance(node, nodes.FunctionCall) and node.function in (
        "_[_]",
        "_[?_]",
        "_?._",
        *more,
    )
