"""The mutants of a module: in each, one node in the code of a function is different."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final, TypeVar

N = TypeVar("N", bound=ast.AST)

_OTHER: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_FUNCTIONS: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
# Texts for people, or for type checkers.
_DESCRIPTIONS: Final = ("__repr__", "__str__")
_TEXT_CALL: Final = re.compile(r"(observe|^report|^create_task|Error|^assert_never)$|^_?describe")
_SENTENCE: Final = re.compile(r"[a-z,.:] [a-z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A module in which ``new`` replaces ``old``, which is in a field of ``parent``.

    ``lines`` are those of the statement, or of the head of the block, that contains ``old``.
    """

    module: ast.Module
    parent: ast.AST
    field: str
    index: int | None
    old: ast.AST
    new: ast.AST
    lines: range

    @property
    def line(self) -> int:
        return getattr(self.old, "lineno", self.lines.start)

    def compiled(self, file: str) -> CodeType:
        """The code of the module."""
        self._replace(self.new)
        try:
            return compile(self.module, file, "exec", dont_inherit=True)
        finally:
            self._replace(self.old)

    def _replace(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node

    def __str__(self) -> str:
        old, new = (ast.unparse(each).strip().splitlines() for each in (self.old, self.new))
        # In long texts, what differs may be far inside.
        at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
        return f"{self.line}: {old[at].strip()}  ->  {new[at].strip()}"


def mutants(source: str, errors: frozenset[str] = frozenset()) -> Iterator[Mutant]:
    """Each mutant of a module. ``errors`` are names of classes whose arguments are messages."""
    module = ast.parse(source)
    for node in ast.walk(module):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [_at(node, ast.Pass())]
    # Functions that contain others come first, and their code includes that of the others.
    inside: set[ast.AST] = set()
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node not in inside:
            inside.update(ast.walk(node))
            yield from _Visitor(module, errors).changes(node, range(0), is_text=False)


class _Visitor:
    def __init__(self, module: ast.Module, errors: frozenset[str]) -> None:
        self._module = module
        self._errors = errors

    def changes(self, parent: ast.AST, lines: range, *, is_text: bool) -> Iterator[Mutant]:
        """The mutants of what is inside ``parent``."""
        for name, index, child in _children(parent):
            inner = _head(child) if isinstance(child, ast.stmt) else lines
            inner_text = is_text or self._is_text(child)
            for new in _replacements(child):
                is_string = isinstance(child, ast.Constant) and isinstance(child.value, str | bytes)
                if not (is_string and is_text):
                    yield Mutant(
                        module=self._module,
                        parent=parent,
                        field=name,
                        index=index,
                        old=child,
                        new=_at(child, new),
                        lines=inner,
                    )
            yield from self.changes(child, inner, is_text=inner_text)

    def _is_text(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        name = ast.unparse(node.func).rpartition(".")[2]
        return name in self._errors or _TEXT_CALL.search(name) is not None


def _children(parent: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    match parent:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            names: tuple[str, ...] = () if name in _DESCRIPTIONS else ("body",)
        case ast.AnnAssign():
            names = ("target", "value")
        case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.Expr(value=ast.Constant()):
            names = ()
        case _:
            names = parent._fields
    for name in names:
        match getattr(parent, name):
            case list() as several:
                for index, each in enumerate(several):
                    if isinstance(each, ast.AST):
                        yield name, index, each
            case ast.AST() as one:
                yield name, None, one
            case _:
                pass


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Expr(value=ast.Constant() | ast.Yield() | ast.YieldFrom()):
            pass  # a docstring, `...`, or what makes the function a generator
        case ast.Expr(value=ast.Call(func=ast.Name(id="assert_never"))):
            pass
        case ast.Expr() | ast.AugAssign() | ast.Delete() | ast.Raise() | ast.Continue():
            yield ast.Pass()
        case ast.Break() | ast.Return(value=None):
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.AnnAssign(target=ast.Attribute(), value=ast.expr()):
            yield ast.Pass()
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield ast.Return(value=ast.Constant(value=None))
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield from (_with(node, test=each) for each in _negated(test))
        case ast.match_case(guard=ast.expr() as guard):
            yield from (_with(node, guard=each) for each in _negated(guard))
        case ast.comprehension(ifs=[test]):
            yield from (_with(node, ifs=[each]) for each in _negated(test))
        case ast.ExceptHandler(body=[first, *_]) if not isinstance(first, ast.Pass):
            yield _with(node, body=[ast.Pass()])
        case ast.Try(finalbody=[_, *_]):
            yield _with(node, finalbody=[ast.Pass()])
        case ast.Compare(ops=[op]):
            yield _with(node, ops=[_OTHER[type(op)]()])
        case ast.BinOp(op=op) if type(op) in _OTHER and not _has_text(node):
            yield _with(node, op=_OTHER[type(op)]())
        case ast.BoolOp(op=op):
            yield _with(node, op=_OTHER[type(op)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield _with(operand)
        case ast.Call(func=function, keywords=keywords):
            if isinstance(function, ast.Name) and function.id in _FUNCTIONS:
                yield _with(node, func=_with(function, id=_FUNCTIONS[function.id]))
            for each in keywords:
                if each.arg is not None:
                    yield _with(node, keywords=[other for other in keywords if other is not each])
        case ast.Constant(value=bool() as value):
            yield ast.Constant(value=not value)
        case ast.Constant(value=int() | float() as value):
            yield from (ast.Constant(value=value + more) for more in (1, -1))
        case ast.Constant(value=str() as value) if not _SENTENCE.search(value):
            yield ast.Constant(value=f"{value}-mutant")
        case ast.Constant(value=bytes() as value):
            yield ast.Constant(value=value + b"-mutant")
        case _:
            pass


def _negated(test: ast.expr) -> Iterator[ast.expr]:
    match test:
        case ast.UnaryOp(op=ast.Not()):
            pass  # this node and the next have a mutant of their own with the same effect
        case ast.Compare(
            ops=[ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot() | ast.In() | ast.NotIn()]
        ):
            pass
        case _:
            yield ast.UnaryOp(op=ast.Not(), operand=test)


def _with(node: N, **changes: Any) -> N:
    """A copy of ``node`` with other fields."""
    return type(node)(**{**dict(ast.iter_fields(node)), **changes})


def _at(node: ast.AST, new: N) -> N:
    """``new``, with the position of ``node`` where it has none."""
    if hasattr(node, "lineno"):
        ast.copy_location(new, node)
    return ast.fix_missing_locations(new)


def _has_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(each, ast.JoinedStr)
        or (isinstance(each, ast.Constant) and isinstance(each.value, str))
        for each in sides
    )


def _head(statement: ast.stmt) -> range:
    """The lines of a statement without those of the statements inside it."""
    inside = [
        each.lineno
        for each in ast.walk(statement)
        if isinstance(each, (ast.stmt, ast.ExceptHandler)) and each is not statement
    ]
    last = min(inside) - 1 if inside else statement.end_lineno or statement.lineno
    return range(statement.lineno, max(last, statement.lineno) + 1)
