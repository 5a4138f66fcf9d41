"""The type checker: determines the type of each part of an expression, or its type errors.

The rules and messages are those of the type checker in kube-apiserver.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from steersman_cluster.apiserver.cel import cel_types, nodes
from steersman_cluster.apiserver.cel.cel_types import (
    CelType,
    Substitutions,
    list_of,
    map_of,
    optional_of,
)
from steersman_cluster.apiserver.cel.compiler.declarations import TYPE_NAMES, Overload, functions
from steersman_cluster.apiserver.cel.errors import Issue, NotCompiled, shown_issues
from steersman_cluster.apiserver.cel.field_selection import RESERVED
from steersman_cluster.apiserver.cel.values import type_of_constant


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A parsed expression, the type of each part, and what each name and call refers to."""

    tree: nodes.Tree
    types: Mapping[int, CelType]
    overloads: Mapping[int, tuple[str, ...]]
    idents: Mapping[int, str]  # resolved names, also qualified ones such as ``a.b``
    functions: Mapping[int, str]  # the names of calls whose receiver is part of the name

    @property
    def result(self) -> CelType:
        return self.types[self.tree.root.id]


def check(tree: nodes.Tree, variables: Mapping[str, CelType]) -> Checked:
    """Return ``tree`` with the type of each part.

    ``variables`` contains the types of the variables. Raises ``NotCompiled`` with all type errors.
    """
    checker = _Checker(tree, variables)
    checker.check(tree.root)
    if checker.issues:
        raise NotCompiled(shown_issues(tree.text, checker.issues))
    return checker.checked()


class _Checker:
    def __init__(self, tree: nodes.Tree, variables: Mapping[str, CelType]) -> None:
        self.issues: list[Issue] = []
        self._tree = tree
        self._scopes: list[Mapping[str, CelType]] = [variables]
        self._subs = Substitutions()
        self._types: dict[int, CelType] = {}
        self._overloads: dict[int, tuple[str, ...]] = {}
        self._idents: dict[int, str] = {}
        self._functions: dict[int, str] = {}

    def checked(self) -> Checked:
        return Checked(
            tree=self._tree,
            types={
                number: self._subs.applied(each, free=cel_types.DYN)
                for number, each in self._types.items()
            },
            overloads=self._overloads,
            idents=self._idents,
            functions=self._functions,
        )

    def check(self, node: nodes.Node) -> CelType:
        found = self._found(node)
        self._types[node.id] = found
        return found

    def _found(self, node: nodes.Node) -> CelType:
        match node:
            case nodes.Literal(value=value):
                return type_of_constant(value)
            case nodes.Ident(name=name):
                return self._ident(node, name)
            case nodes.Select():
                return self._select(node)
            case nodes.FunctionCall():
                return self._call(node)
            case nodes.ListLiteral():
                return self._list(node)
            case nodes.MapLiteral():
                return self._map(node)
            case nodes.MessageLiteral():
                return self._message(node)
            case nodes.Fold():
                return self._fold(node)

    def _complain(self, node_id: int, message: str) -> None:
        self.issues.append(Issue(self._tree.positions.get(node_id, 0), message))

    def _undeclared(self, node: nodes.Node, name: str) -> CelType:
        self._complain(node.id, f"undeclared reference to '{name}' (in container '')")
        return cel_types.ERROR

    def _mismatch(self, node: nodes.Node, wanted: CelType, found: CelType) -> None:
        self._complain(node.id, f"expected type '{wanted}' but found '{found}'")

    def _lookup(self, name: str) -> CelType | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        if name in TYPE_NAMES:
            return cel_types.type_of(TYPE_NAMES[name])
        return None

    def _ident(self, node: nodes.Ident, name: str) -> CelType:
        found = self._lookup(name.lstrip("."))
        if found is None:
            return self._undeclared(node, name)
        self._idents[node.id] = name.lstrip(".")
        return found

    def _select(self, node: nodes.Select) -> CelType:
        name = nodes.qualified_name(node)
        if name is not None and (found := self._lookup(name)) is not None:
            self._idents[node.id] = name
            return found
        found = self._field(node, node.operand, node.field, optional=False)
        return cel_types.BOOL if node.test_only else self._subs.applied(found)

    def _field(
        self, node: nodes.Node, operand: nodes.Node, field: str, *, optional: bool
    ) -> CelType:
        within, was_optional = cel_types.unwrapped(self._subs.applied(self.check(operand)))
        match within.kind:
            case "map":
                found = within.parameters[1]
            case "object":
                if field in within.fields:
                    found = within.fields[field]
                elif field in RESERVED and f"__{field}__" in within.fields:
                    found = within.fields[f"__{field}__"]
                else:
                    found = cel_types.ERROR
                    self._complain(node.id, f"undefined field '{field}'")
            case "opaque" if within.name.startswith("kubernetes."):
                # kube-apiserver treats these as protobuf messages that it cannot resolve.
                found = cel_types.ERROR
                self._complain(node.id, f"unexpected failed resolution of '{within.name}'")
            case "parameter":
                self._subs.agree((cel_types.DYN,), (within,))
                found = cel_types.DYN
            case _:
                found = cel_types.DYN
                if within.kind not in ("dyn", "error"):
                    self._complain(node.id, f"type '{within}' does not support field selection")
        return optional_of(found) if was_optional or optional else found

    def _call(self, node: nodes.FunctionCall) -> CelType:
        if node.function == "_?._":
            operand, field = node.args
            if not isinstance(field, nodes.Literal) or not isinstance(field.value, str):
                self._complain(field.id, "unsupported optional field selection")
                return cel_types.ERROR
            found = self._field(node, operand, field.value, optional=True)
            self._types[field.id] = cel_types.STRING
            self._overloads[node.id] = ("select_optional_field",)
            return self._subs.applied(found)
        known = functions()
        given = tuple(map(self.check, node.args))
        if node.target is None:
            name = node.function.lstrip(".")
            if name not in known:
                return self._undeclared(node, node.function)
            self._functions[node.id] = name
            return self._resolved(node, name, given, node.args, is_method=False)
        prefix = nodes.qualified_name(node.target)
        if prefix is not None and (name := f"{prefix}.{node.function}".lstrip(".")) in known:
            self._functions[node.id] = name
            return self._resolved(node, name, given, node.args, is_method=False)
        target = self.check(node.target)
        if node.function not in known:
            return self._undeclared(node, node.function)
        return self._resolved(
            node, node.function, (target, *given), (node.target, *node.args), is_method=True
        )

    def _resolved(
        self,
        node: nodes.FunctionCall,
        name: str,
        given: tuple[CelType, ...],
        args: tuple[nodes.Node, ...],
        *,
        is_method: bool,
    ) -> CelType:
        if name in ("_&&_", "_||_"):
            return self._logical(node, name, given, args)
        result: CelType | None = None
        matching: list[str] = []
        for overload in functions()[name]:
            if overload.is_method != is_method:
                continue
            wanted, gives = self._instance(overload)
            if not self._subs.agree(given, wanted):
                continue
            matching.append(overload.id)
            found = self._subs.applied(gives)
            if result is None:
                result = found
            elif result.kind != "dyn" and found != result:
                result = cel_types.DYN
        if result is None:
            shown = [str(self._subs.applied(each, free=cel_types.DYN)) for each in given]
            signature = f"({', '.join(shown)})"
            if is_method:
                signature = f"{shown[0]}.({', '.join(shown[1:])})"
            self._complain(
                node.id, f"found no matching overload for '{name}' applied to '{signature}'"
            )
            return cel_types.ERROR
        self._overloads[node.id] = tuple(matching)
        return result

    def _logical(
        self,
        node: nodes.FunctionCall,
        name: str,
        given: tuple[CelType, ...],
        args: tuple[nodes.Node, ...],
    ) -> CelType:
        fits = True
        for each, arg in zip(given, args, strict=True):
            if not self._subs.agree((each,), (cel_types.BOOL,)):
                self._mismatch(arg, cel_types.BOOL, each)
                fits = False
        if not fits:
            return cel_types.ERROR
        self._overloads[node.id] = ("logical_and" if name == "_&&_" else "logical_or",)
        return cel_types.BOOL

    def _instance(self, overload: Overload) -> tuple[tuple[CelType, ...], CelType]:
        """Return an overload's parameters and result, with fresh type parameters for this call."""
        if not overload.names:
            return overload.parameters, overload.result
        fresh = {name: self._subs.fresh() for name in overload.names}
        wanted = tuple(_renamed(each, fresh) for each in overload.parameters)
        return wanted, _renamed(overload.result, fresh)

    def _list(self, node: nodes.ListLiteral) -> CelType:
        joined: CelType | None = None
        for index, each in enumerate(node.elements):
            found = self.check(each)
            if index in node.optional:
                found = self._held(each, found)
            joined = self._joined(joined, found)
        return list_of(self._subs.fresh() if joined is None else joined)

    def _map(self, node: nodes.MapLiteral) -> CelType:
        key: CelType | None = None
        value: CelType | None = None
        for entry in node.entries:
            key = self._joined(key, self.check(entry.key))
            found = self.check(entry.value)
            if entry.optional:
                found = self._held(entry.value, found)
            value = self._joined(value, found)
        if key is None or value is None:
            return map_of(self._subs.fresh(), self._subs.fresh())
        return map_of(key, value)

    def _held(self, node: nodes.Node, found: CelType) -> CelType:
        held, was_optional = cel_types.unwrapped(found)
        if not was_optional and held.kind != "dyn":
            self._mismatch(node, optional_of(held), held)
        return held

    def _joined(self, before: CelType | None, found: CelType) -> CelType:
        if before is None:
            return found
        # Mixed element types are rejected later, except in the arguments of format().
        if self._subs.agree((before,), (found,)):
            return cel_types.more_general(before, found)
        return cel_types.DYN

    def _message(self, node: nodes.MessageLiteral) -> CelType:
        found = self._lookup(node.name)
        if found is None:
            return self._undeclared(node, node.name)
        if found.kind != "type":
            self._complain(node.id, f"'{found}' is not a type")
        else:
            self._complain(node.id, f"'{found.parameters[0]}' is not a message type")
        return cel_types.ERROR

    def _fold(self, node: nodes.Fold) -> CelType:
        over = self._subs.applied(self.check(node.range))
        accumulated = self.check(node.initial)
        over = self._subs.applied(self._types[node.range.id])
        first, second = self._iterated(node, over)
        loop = {node.variable: first}
        if node.second_variable is not None:
            loop[node.second_variable] = second
        self._scopes.append({node.accumulator: accumulated})
        self._scopes.append(loop)
        self._asserted(node.condition, cel_types.BOOL)
        self._asserted(node.step, accumulated)
        self._scopes.pop()
        result = self.check(node.result)
        self._scopes.pop()
        return self._subs.applied(result)

    def _iterated(self, node: nodes.Fold, over: CelType) -> tuple[CelType, CelType]:
        """Return the types of the loop's two variables."""
        match over.kind:
            case "list" if node.second_variable is not None:
                return cel_types.INT, over.parameters[0]
            case "list":
                return over.parameters[0], cel_types.ERROR
            case "map":
                return over.parameters[0], over.parameters[1]
            case "dyn" | "error" | "parameter":
                self._subs.agree((cel_types.DYN,), (over,))
                return cel_types.DYN, cel_types.DYN
            case _:
                self._complain(
                    node.range.id,
                    f"expression of type '{over}' cannot be range of a comprehension"
                    " (must be list, map, or dynamic)",
                )
                return cel_types.ERROR, cel_types.ERROR

    def _asserted(self, node: nodes.Node, wanted: CelType) -> None:
        found = self.check(node)
        if not self._subs.agree((wanted,), (found,)):
            self._mismatch(node, wanted, found)


def _renamed(within: CelType, fresh: Mapping[str, CelType]) -> CelType:
    if within.kind == "parameter":
        return fresh[within.name]
    if not within.parameters:
        return within
    inside = tuple(_renamed(each, fresh) for each in within.parameters)
    return CelType(within.kind, within.name, inside)
