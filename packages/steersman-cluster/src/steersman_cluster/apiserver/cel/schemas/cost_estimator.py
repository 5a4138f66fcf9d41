"""The maximum cost of a CEL expression, estimated before it is evaluated.

The cost of a loop is the cost of its body, multiplied by the maximum length of the list or map that
the loop iterates over. If the schema does not limit that length, the maximum size of a request
does. ``rule_validation`` compares the estimates with the limits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from steersman_cluster.apiserver.cel import nodes
from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.compiler.checker import Checked
from steersman_cluster.apiserver.cel.schemas.declared_schemas import DeclType
from steersman_cluster.apiserver.cel.schemas.estimated_calls import (
    CallEstimate,
    Operand,
    known_call,
)
from steersman_cluster.apiserver.cel.schemas.estimates import (
    NOTHING,
    ONE,
    UNKNOWN,
    Estimate,
    exactly,
)
from steersman_cluster.apiserver.cel.values import MAX_UINT

_LIST: Final = exactly(10)
_MAP: Final = exactly(30)
_SCALARS: Final = frozenset(("bool", "double", "duration", "int", "timestamp", "uint"))
_ACCUMULATORS: Final = frozenset(("@result", "__result__"))


def estimated(checked: Checked, root: DeclType) -> Estimate:
    """Return the estimated cost of a CEL expression over ``self`` and ``oldSelf``.

    ``root`` declares the type and the maximum size of both variables.
    """
    return _Estimator(checked, root).cost(checked.tree.root)


@dataclass(frozen=True, slots=True)
class _Entries:
    """The estimated sizes of the keys and values in a list or map literal."""

    kind: str
    keys: Estimate
    values: Estimate

    def union(self, other: "_Entries | None") -> "_Entries | None":
        if other is None:
            return None
        return _Entries(self.kind, self.keys.union(other.keys), self.values.union(other.values))


@dataclass(frozen=True, slots=True)
class _Variable:
    path: tuple[str, ...]
    size: Estimate | None
    entries: _Entries | None = None


class _Estimator:
    def __init__(self, checked: Checked, root: DeclType) -> None:
        self._checked = checked
        self._root = root
        self._paths: dict[int, tuple[str, ...]] = {}
        self._variables: dict[str, list[_Variable]] = {}
        self._sizes: dict[int, Estimate] = {}
        self._entries: dict[int, _Entries] = {}

    def cost(self, node: nodes.Node) -> Estimate:
        if node.id in self._checked.idents:
            return self._ident(node, self._checked.idents[node.id])
        match node:
            case nodes.Select():
                return self._select(node)
            case nodes.FunctionCall():
                return self._call(node)
            case nodes.ListLiteral():
                return self._list(node)
            case nodes.MapLiteral():
                return self._map(node)
            case nodes.Fold():
                return self._bind(node) if _is_bind(node) else self._fold(node)
            case _:
                return NOTHING

    def _sum(self, all_of: "list[nodes.Node]") -> Estimate:
        total = NOTHING
        for each in all_of:
            total = total.plus(self.cost(each))
        return total

    def _type(self, node: nodes.Node) -> CelType:
        return self._checked.types[node.id]

    def _ident(self, node: nodes.Node, name: str) -> Estimate:
        variable = self._local(name)
        self._paths[node.id] = (name,) if variable is None else variable.path
        return ONE

    def _local(self, name: str) -> _Variable | None:
        stack = self._variables.get(name)
        return stack[-1] if stack else None

    def _select(self, node: nodes.Select) -> Estimate:
        total = self.cost(node.operand)
        if node.test_only:
            return total
        if self._type(node.operand).kind in ("map", "object", "parameter"):
            total = total.plus(ONE)
        self._paths[node.id] = (*self._path(node.operand), node.field)
        return total

    def _call(self, node: nodes.FunctionCall) -> Estimate:
        name = self._checked.functions.get(node.id, node.function)
        if name == "dyn":
            total = ONE.plus(self.cost(node.args[0]))
            self._copy(node, node.args[0])
            return total
        costs = []
        operands = []
        for each in node.args:
            costs.append(self.cost(each))
            operands.append(self._operand(each))
        overloads = self._checked.overloads.get(node.id, ())
        if not overloads:
            return NOTHING
        total, target = NOTHING, None
        if node.target is not None and node.id not in self._checked.functions:
            total = self.cost(node.target)
            target = self._operand(node.target)
        of_function, size = Estimate(MAX_UINT, 0), None
        for overload in overloads:
            found = self._function(node, name, overload, target, operands, costs)
            of_function = of_function.union(found.cost)
            if found.size is not None:
                size = found.size if size is None else size.union(found.size)
            if overload in ("index_list", "index_map"):
                entries = self._entries_of(node.args[0])
                size = None if entries is None else entries.values
                inside = "@items" if overload == "index_list" else "@values"
                self._paths[node.id] = (*self._path(node.args[0]), inside)
            if size is None:
                size = self._size(node)
        if size is not None:
            self._sizes[node.id] = size
        return total.plus(of_function)

    def _function(
        self,
        node: nodes.FunctionCall,
        name: str,
        overload: str,
        target: Operand | None,
        operands: list[Operand],
        costs: list[Estimate],
    ) -> CallEstimate:
        if overload in ("logical_or", "logical_and"):
            return CallEstimate(Estimate(costs[0].minimum, costs[0].plus(costs[1]).maximum))
        if overload == "conditional":
            first, second = (self._entries_of(each) for each in node.args[1:])
            if first is not None and (both := first.union(second)) is not None:
                self._entries[node.id] = both
            size = operands[1].known.union(operands[2].known)
            return CallEstimate(costs[0].plus(costs[1].union(costs[2])), size)
        if overload in ("add_string", "add_bytes", "add_list"):
            first, second = (self._entries_of(each) for each in node.args)
            if first is not None and (both := first.union(second)) is not None:
                self._entries[node.id] = both
        given = NOTHING
        for each in costs:
            given = given.plus(each)
        found = known_call(name, overload, target, operands, self._element_size)
        return CallEstimate(found.cost.plus(given), found.size)

    def _element_size(self, operand: Operand) -> tuple[CelType, Estimate] | None:
        """Return the type of a list's elements and their size, if known."""
        if not operand.type.parameters:
            return None
        of = operand.type.parameters[0]
        found = self._declared_size((*operand.path, "@items")) if operand.path else None
        return of, UNKNOWN if found is None else found

    def _list(self, node: nodes.ListLiteral) -> Estimate:
        total = self._sum(list(node.elements)).plus(_LIST)
        values = self._joined(list(node.elements))
        self._entries[node.id] = _Entries("list", ONE, values)
        return total

    def _map(self, node: nodes.MapLiteral) -> Estimate:
        keys = [each.key for each in node.entries]
        values = [each.value for each in node.entries]
        total = self._sum([each for pair in zip(keys, values, strict=True) for each in pair])
        self._entries[node.id] = _Entries("map", self._joined(keys), self._joined(values))
        return total.plus(_MAP)

    def _joined(self, all_of: "list[nodes.Node]") -> Estimate:
        joined = Estimate(MAX_UINT, 0) if all_of else NOTHING
        for each in all_of:
            joined = joined.union(self._size_or_unknown(each))
        return joined

    def _fold(self, node: nodes.Fold) -> Estimate:
        total = self.cost(node.range).plus(self.cost(node.initial))
        self._push(
            node.accumulator,
            _Variable(
                self._path(node.initial), self._size(node.initial), self._entries_of(node.initial)
            ),
        )
        if node.second_variable is not None:
            self._push(node.variable, self._iterated(node.range, "keys"))
            self._push(node.second_variable, self._iterated(node.range, "values"))
        else:
            self._push(node.variable, self._iterated(node.range, "single"))
        loop = self.cost(node.condition)
        step = self.cost(node.step)
        self._variables[node.variable].pop()
        if node.second_variable is not None:
            self._variables[node.second_variable].pop()
        total = total.plus(self.cost(node.result))
        self._variables[node.accumulator].pop()
        count = self._size_or_unknown(node.range)
        total = total.plus(count.times(step.plus(loop)))
        if isinstance(node.initial, nodes.Literal):
            if (size := self._size(node.initial)) is not None:
                self._sizes[node.id] = size
        elif isinstance(node.initial, nodes.ListLiteral | nodes.MapLiteral):
            self._sizes[node.id] = count
            if (entries := self._entries_of(node.step)) is not None:
                self._entries[node.id] = entries
        return total

    def _bind(self, node: nodes.Fold) -> Estimate:
        total = self.cost(node.range).plus(self.cost(node.initial))
        self._push(
            node.accumulator,
            _Variable(
                self._path(node.initial), self._size(node.initial), self._entries_of(node.initial)
            ),
        )
        total = total.plus(self.cost(node.result))
        self._variables[node.accumulator].pop()
        self._copy(node, node.result)
        return total

    def _push(self, name: str, variable: _Variable) -> None:
        self._variables.setdefault(name, []).append(variable)

    def _iterated(self, over: nodes.Node, which: str) -> _Variable:
        entries = self._entries_of(over)
        kind = self._type(over).kind if entries is None else entries.kind
        is_list = kind == "list"
        if which == "single":
            which = "values" if is_list else "keys"
        if which == "keys":
            size = None if entries is None else entries.keys
            inside = "@indices" if is_list else "@keys"
        else:
            size = None if entries is None else entries.values
            inside = "@items" if is_list else "@values"
        return _Variable((*self._path(over), inside), size)

    def _path(self, node: nodes.Node) -> tuple[str, ...]:
        if isinstance(node, nodes.Ident) and (variable := self._local(node.name)) is not None:
            return variable.path
        return self._paths.get(node.id, ())

    def _operand(self, node: nodes.Node) -> Operand:
        path = self._path(node)
        if path and path[0] in _ACCUMULATORS:
            path = ()
        return Operand(node=node, type=self._type(node), path=path, size=self._size(node))

    def _copy(self, to: nodes.Node, source: nodes.Node) -> None:
        if (size := self._size(source)) is not None:
            self._sizes[to.id] = size
        if (entries := self._entries_of(source)) is not None:
            self._entries[to.id] = entries

    def _entries_of(self, node: nodes.Node) -> _Entries | None:
        if node.id in self._entries:
            return self._entries[node.id]
        if isinstance(node, nodes.Ident) and (variable := self._local(node.name)) is not None:
            return variable.entries
        return None

    def _size_or_unknown(self, node: nodes.Node) -> Estimate:
        found = self._size(node)
        return UNKNOWN if found is None else found

    def _size(self, node: nodes.Node) -> Estimate | None:
        if node.id in self._sizes:
            return self._sizes[node.id]
        match node:
            case nodes.Literal(value=str() | bytes() as value):
                return exactly(len(value))
            case nodes.Literal():
                return ONE
            case nodes.ListLiteral(elements=elements):
                return exactly(len(elements))
            case nodes.MapLiteral(entries=entries):
                return exactly(len(entries))
            case _:
                pass
        path = self._path(node)
        if path and (found := self._declared_size(path)) is not None:
            self._sizes[node.id] = found
            return found
        if _is_scalar(self._type(node)):
            return ONE
        if isinstance(node, nodes.Ident) and (variable := self._local(node.name)) is not None:
            return variable.size
        return None

    def _declared_size(self, path: tuple[str, ...]) -> Estimate | None:
        """Return the maximum size that the schema permits; ``path`` starts with the variable's
        name.
        """
        at: DeclType | None = self._root
        for step in path[1:]:
            if at is None:
                return None
            if step in ("@items", "@values"):
                at = at.elements
            elif step == "@keys":
                at = at.keys
            else:
                fields: Mapping[str, DeclType] = at.fields
                at = fields.get(step)
        return None if at is None else Estimate(0, at.max_elements)


def _is_scalar(of: CelType) -> bool:
    if of.kind == "opaque" and of.name == "optional_type":
        return _is_scalar(of.parameters[0])
    return of.kind in _SCALARS


def _is_bind(node: nodes.Fold) -> bool:
    return (
        isinstance(node.range, nodes.ListLiteral)
        and not node.range.elements
        and isinstance(node.condition, nodes.Literal)
        and node.condition.value is False
        and node.accumulator != "__result__"
    )
