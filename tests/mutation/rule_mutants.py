"""The mutants of a module with rules, all in one tree: each lacks one rule or one default."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# The name under which an instrumented module has ``switches``.
SWITCHES: Final = "_switches"
# The functions of ``rule`` whose arguments are rules, and the position of the first one.
_CONTAINERS: Final = {
    "always": 1,
    "each": 0,
    "each_value": 0,
    "first": 0,
    "given": 1,
    "needed": 1,
    "optional": 1,
    "required": 1,
    "table": 0,
    "when": 1,
}
# The functions of ``rule`` whose arguments are fields with the same rule.
_LISTS: Final = ("all_required", "forbidden", "not_negative")
# Without its own rule, that the field must be present, a row still applies the other rules.
_WEAKER: Final = {"required": "optional", "needed": "given"}
_FILLS: Final = ("fill", "fill_empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A part of a module that is deleted while the switch of this number is active."""

    number: int
    line: int
    deleted: str

    def __str__(self) -> str:
        return f"{self.line}: {' '.join(self.deleted.split())[:100]}"


def instrumented(source: str, first: int) -> tuple[ast.Module, list[Mutant]]:
    """The module with a switch for each mutant, and the mutants, numbered from ``first``."""
    instrumenter = _Instrumenter(source, first)
    module = instrumenter.visit(ast.parse(source))
    ast.fix_missing_locations(module)
    return module, instrumenter.mutants


class _Instrumenter(ast.NodeTransformer):
    """Replaces each part that can be deleted by a call of ``switches``."""

    def __init__(self, source: str, first: int) -> None:
        self.mutants: list[Mutant] = []
        self._lines = source.encode().splitlines(keepends=True)
        self._first = first
        # Whether the statements belong to a function that returns errors, or that sets defaults.
        self._finds_errors = self._sets_defaults = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        before = self._finds_errors, self._sets_defaults
        if node.returns is not None and "FieldError" in ast.unparse(node.returns):
            self._finds_errors, self._sets_defaults = True, False
        elif not self._finds_errors:
            self._sets_defaults |= "default" in node.name
        self.generic_visit(node)
        self._finds_errors, self._sets_defaults = before
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = _function_of_rule(node)
        if name in _LISTS:
            return self._list_of_fields(node)
        if self._sets_defaults and isinstance(node.func, ast.Name) and node.func.id in _FILLS:
            return self._fill(node)
        if name not in _CONTAINERS:
            return self.generic_visit(node)
        first = _CONTAINERS[name]
        own = self._new(node.func) if name in _WEAKER else -1
        node.args = [*map(self._expr, node.args[:first]), *map(self._rule, node.args[first:])]
        for keyword in node.keywords:
            if keyword.arg == "otherwise" and isinstance(keyword.value, (ast.List, ast.Tuple)):
                keyword.value.elts = [self._rule(each) for each in keyword.value.elts]
        if own < 0:
            return node
        weaker = ast.Attribute(ast.Name("rule", ast.Load()), _WEAKER[name], ast.Load())
        return _call("weaker", own, node.func, weaker, *node.args, keywords=node.keywords)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        match node.value:
            case ast.Yield() if self._finds_errors:
                return self._statement(node)
            case ast.YieldFrom() as value if self._finds_errors:
                return self._addition(node, value)
            case ast.Call(func=ast.Attribute(attr="append")) if self._finds_errors:
                return self._statement(node)
            case ast.Call(func=ast.Attribute(attr="extend")) as call if self._finds_errors:
                number = self._new(node)
                self.generic_visit(node)
                call.args = [_call("noted", number, *call.args)]
                return _if_exists(number, node)
            case ast.Call(func=ast.Attribute(attr="setdefault", value=obj), args=args) if (
                self._sets_defaults
            ):
                number = self._new(node)
                self.generic_visit(node)
                return ast.Expr(_call("set_default", number, obj, *args))
            case _:
                return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not self._finds_errors or not isinstance(node.op, ast.Add):
            return self.generic_visit(node)
        return self._addition(node, node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if self._sets_defaults and isinstance(node.targets[0], ast.Subscript):
            return self._statement(node)
        return self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if not self._finds_errors or node.value is None:
            return self.generic_visit(node)
        node.value = self._returned(node.value)
        return node

    def _new(self, part: ast.expr | ast.stmt | ast.keyword) -> int:
        """The number of a new mutant without ``part``."""
        number = self._first + len(self.mutants)
        self.mutants.append(Mutant(number=number, line=part.lineno, deleted=self._text(part)))
        return number

    def _text(self, part: ast.expr | ast.stmt | ast.keyword) -> str:
        # ``ast.get_source_segment`` splits the whole source for each part.
        assert part.end_lineno is not None
        lines = self._lines[part.lineno - 1 : part.end_lineno]
        lines[-1] = lines[-1][: part.end_col_offset]
        return b"".join([lines[0][part.col_offset :], *lines[1:]]).decode()

    def _expr(self, node: ast.expr) -> ast.expr:
        changed = self.visit(node)
        assert isinstance(changed, ast.expr)
        return changed

    def _rule(self, node: ast.expr) -> ast.expr:
        # The rules in an inner row are deleted one by one.
        if isinstance(node, ast.Call) and _function_of_rule(node) in {*_CONTAINERS, *_LISTS}:
            return self._expr(node)
        return self._row(self._new(node), [self._expr(node)])

    def _row(self, number: int, rules: Sequence[ast.expr]) -> ast.expr:
        return _call("row", number, _table(rules))

    def _list_of_fields(self, node: ast.Call) -> ast.expr:
        rows: list[ast.expr] = [
            self._row(self._new(each), [ast.Call(node.func, [each], node.keywords)])
            for each in node.args
        ]
        return _table(rows)

    def _fill(self, node: ast.Call) -> ast.Call:
        """``fill(obj, field=value)``, with each field through a switch."""
        fields: list[ast.keyword] = []
        for each in node.keywords:
            number = self._new(each)
            value = ast.keyword(each.arg, self._expr(each.value))
            fields.append(ast.keyword(None, _call("default", number, *node.args, keywords=[value])))
        node.keywords = fields
        return node

    def _statement(self, node: ast.stmt) -> ast.If:
        number = self._new(node)
        self.generic_visit(node)
        return ast.If(_call("runs", number), [node], [])

    def _addition(self, node: ast.stmt, part: ast.YieldFrom | ast.AugAssign) -> ast.If:
        number = self._new(node)
        self.generic_visit(node)
        part.value = _call("noted", number, part.value)
        return _if_exists(number, node)

    def _returned(self, value: ast.expr) -> ast.expr:
        match value:
            case ast.List(elts=elements):
                value.elts = [self._element(each) for each in elements]
            case ast.BinOp():
                value.left, value.right = self._returned(value.left), self._returned(value.right)
            case ast.IfExp():
                value.test = self._expr(value.test)
                value.body = self._returned(value.body)
                value.orelse = self._returned(value.orelse)
            case ast.Call() | ast.ListComp():
                number = self._new(value)
                noted = _call("noted", number, self._expr(value))
                return ast.IfExp(_call("exists", number), noted, _empty())
            case _:
                return self._expr(value)
        return value

    def _element(self, node: ast.expr) -> ast.expr:
        """An element of a returned list; a variable that is unpacked is no rule."""
        if not isinstance(node, ast.Starred):
            number = self._new(node)
            found: ast.expr = ast.List([self._expr(node)], ast.Load())
            return _starred(ast.IfExp(_call("runs", number), found, _empty()))
        if isinstance(node.value, ast.Name):
            return node
        number = self._new(node)
        found = _call("noted", number, self._expr(node.value))
        return _starred(ast.IfExp(_call("exists", number), found, _empty()))


def _function_of_rule(call: ast.Call) -> str:
    match call.func:
        case ast.Attribute(value=ast.Name(id="rule"), attr=name):
            return name
        case _:
            return ""


def _if_exists(number: int, node: ast.stmt) -> ast.If:
    return ast.If(_call("exists", number), [node], [])


def _table(rules: Sequence[ast.expr]) -> ast.expr:
    table = ast.Attribute(ast.Name("rule", ast.Load()), "table", ast.Load())
    return ast.Call(table, list(rules), [])


def _call(
    name: str, number: int, *args: ast.expr, keywords: Sequence[ast.keyword] = ()
) -> ast.Call:
    function = ast.Attribute(ast.Name(SWITCHES, ast.Load()), name, ast.Load())
    return ast.Call(function, [ast.Constant(number), *args], list(keywords))


def _empty() -> ast.expr:
    return ast.List([], ast.Load())


def _starred(value: ast.expr) -> ast.expr:
    return ast.Starred(value, ast.Load())
