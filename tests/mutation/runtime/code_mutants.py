"""The mutants of a module: in each, one node in the code of a function is different."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

_COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_ARITHMETIC: Final[dict[type[ast.operator], str]] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "*",
    ast.Pow: "*",
    ast.BitOr: "&",
    ast.BitAnd: "|",
}
_FUNCTIONS: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
_BLOCKS: Final = (ast.If, ast.While, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Match)
_FUNCTION_NODES: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
# Their results are for people.
_DESCRIPTIONS: Final = ("__repr__", "__str__")
# Calls with texts that are no promises: errors, observations and names of tasks.
_TEXT_CALL: Final = re.compile(r"observe$|^report$|^create_task$|Error$|^_?(describe|hint)")
_SENTENCE: Final = re.compile(r"[a-z,.:] [a-z]")
_OPERATOR: Final = re.compile(r"not in|is not|[=!<>]=|//|\*\*|\bis\b|\bin\b|[<>+\-*/%|&]")

# (the first part of what is replaced, the last part, the replacement)
_Change: TypeAlias = tuple[int, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A change of a module: the text between two offsets, in bytes, has a replacement.

    ``first_line`` and ``last_line`` are those of the statement, or of the head of the block.
    """

    first_line: int
    last_line: int
    line: int
    start: int
    end: int
    replacement: str

    def applied_to(self, source: str) -> str:
        """The source of the module with this change."""
        encoded = source.encode()
        return b"".join(
            (encoded[: self.start], self.replacement.encode(), encoded[self.end :])
        ).decode()

    def described(self, source: str) -> str:
        """The line, the text that is replaced, and its replacement."""
        before = " ".join(source.encode()[self.start : self.end].decode().split())
        return f"{self.line}: {before[:90]}  ->  {self.replacement[:90]}"


def mutants(source: str, errors: frozenset[str] = frozenset()) -> Iterator[Mutant]:
    """Each mutant of a module. ``errors`` are names of classes whose arguments are messages."""
    yield from _Generator(source, errors).mutants(ast.parse(source))


class _Generator:
    def __init__(self, source: str, errors: frozenset[str]) -> None:
        self._encoded = source.encode()
        self._errors = errors
        self._offsets = [0]
        for line in self._encoded.splitlines(keepends=True):
            self._offsets.append(self._offsets[-1] + len(line))

    def mutants(self, node: ast.AST) -> Iterator[Mutant]:
        """Those of each function in a module or a class."""
        for child in ast.iter_child_nodes(node):
            match child:
                case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=orelse):
                    yield from self.mutants(ast.Module(body=orelse, type_ignores=[]))
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    if name not in _DESCRIPTIONS:
                        yield from self._block(child.body)
                case ast.stmt():
                    yield from self.mutants(child)
                case _:
                    pass

    def _block(self, body: list[ast.stmt]) -> Iterator[Mutant]:
        for statement in body:
            last = statement.end_lineno or statement.lineno
            if isinstance(statement, (*_FUNCTION_NODES, ast.ClassDef)):
                yield from self.mutants(ast.Module(body=[statement], type_ignores=[]))
                continue
            if isinstance(statement, (*_BLOCKS, ast.Try)):
                inner = next(each for each in ast.iter_child_nodes(statement) if _is_block(each))
                last = max(statement.lineno, _first_line(inner) - 1)
            for start, end, replacement in self._changes_of_statement(statement):
                if self._encoded[start:end].decode() != replacement:
                    yield self._mutant(start, end, replacement, statement.lineno, last)
            for child in ast.iter_child_nodes(statement):
                yield from self._inner_block(child)
            for inner_body in _bodies(statement):
                yield from self._block(inner_body)

    def _inner_block(self, child: ast.AST) -> Iterator[Mutant]:
        match child:
            case ast.ExceptHandler(body=body):
                yield from self._emptied(body, "pass")
                yield from self._block(body)
            case ast.match_case(guard=guard, body=body):
                if guard is not None:
                    line = guard.lineno
                    for change in (*self._negated(guard), *self._changes_of(guard)):
                        yield self._mutant(*change, line, guard.end_lineno or line)
                yield from self._block(body)
            case _:
                pass

    def _emptied(self, body: list[ast.stmt], replacement: str) -> Iterator[Mutant]:
        if not isinstance(body[0], ast.Pass) and len(body) > 1:
            start, end = self._span(body[0])[0], self._span(body[-1])[1]
            last = body[-1].end_lineno or body[-1].lineno
            yield self._mutant(start, end, replacement, body[0].lineno, last)

    def _mutant(self, start: int, end: int, replacement: str, first: int, last: int) -> Mutant:
        line = self._encoded.count(b"\n", 0, start) + 1
        return Mutant(
            first_line=first,
            last_line=last,
            line=line,
            start=start,
            end=end,
            replacement=replacement,
        )

    def _changes_of_statement(self, statement: ast.stmt) -> Iterator[_Change]:
        span = self._span(statement)
        match statement:
            case ast.Expr(value=ast.Constant()) | ast.Assert() | ast.Pass():
                return  # a docstring, `...`, or a sentence for type checkers
            case ast.Expr(value=ast.Call(func=ast.Name(id="assert_never"))):
                return
            case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
                pass  # without it, the function would be no generator
            case ast.Expr() | ast.AugAssign() | ast.Delete() | ast.Raise() | ast.Continue():
                yield *span, "pass"
            case (
                ast.Assign(targets=[ast.Attribute() | ast.Subscript()])
                | ast.AnnAssign(target=ast.Attribute())
            ):
                yield *span, "pass"
            case ast.Break() | ast.Return(value=None):
                yield *span, "pass"
            case ast.Return(value=ast.expr() as value) if not _is_none(value):
                yield *span, "return None"
            case ast.If(test=test) | ast.While(test=test):
                yield from self._negated(test)
            case ast.Try(finalbody=[_, *_] as body):
                yield self._span(body[0])[0], self._span(body[-1])[1], "pass"
            case _:
                pass
        if not isinstance(statement, (ast.Raise, ast.Try)):
            for child in ast.iter_child_nodes(statement):
                is_annotation = isinstance(statement, ast.AnnAssign) and (
                    child is statement.annotation
                )
                if isinstance(child, (ast.expr, ast.withitem)) and not is_annotation:
                    yield from self._changes_of(child)

    def _changes_of(self, node: ast.AST, *, is_text: bool = False) -> Iterator[_Change]:
        """The changes of an expression and of its parts."""
        match node:
            case ast.JoinedStr():
                return  # Python 3.11 has no positions in it
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                yield from self._other_operator(left, right, _COMPARISONS[type(op)])
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                if not (_is_text(left) or _is_text(right)):
                    yield from self._other_operator(left, right, _ARITHMETIC[type(op)])
            case ast.BoolOp(op=op, values=values):
                word = " or " if isinstance(op, ast.And) else " and "
                parts = [self._text(each) for each in values]
                yield *self._span(node), f"({word.join(f'({each})' for each in parts)})"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield *self._span(node), f"({self._text(operand)})"
            case ast.IfExp(test=test):
                yield from self._negated(test)
            case ast.comprehension(ifs=tests):
                for each in tests:
                    yield from self._negated(each)
            case ast.Call(func=ast.Name(id=name) as function) if name in _FUNCTIONS:
                yield *self._span(function), _FUNCTIONS[name]
            case ast.Constant(value=value):
                yield from self._other_constants(node, value, is_text=is_text)
            case ast.keyword(arg=str()):
                yield *self._span(node), "**{}"
            case _:
                pass
        if isinstance(node, ast.Call):
            is_text = is_text or self._has_text(node)
        for child in ast.iter_child_nodes(node):
            yield from self._changes_of(child, is_text=is_text)

    def _negated(self, test: ast.expr) -> Iterator[_Change]:
        # The other forms have a change of their own with the same effect.
        has_own = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        if not has_own:
            yield *self._span(test), f"(not ({self._text(test)}))"

    def _other_operator(self, left: ast.expr, right: ast.expr, operator: str) -> Iterator[_Change]:
        start, end = self._span(left)[1], self._span(right)[0]
        between = self._encoded[start:end].decode()
        if found := _OPERATOR.search(between):
            yield start + found.start(), start + found.end(), operator

    def _other_constants(self, node: ast.AST, value: object, *, is_text: bool) -> Iterator[_Change]:
        span = self._span(node)
        match value:
            case bool():
                yield *span, str(not value)
            case int() | float():
                yield *span, repr(value + 1)
                yield *span, repr(value - 1)
            case str() if not (is_text or _SENTENCE.search(value)):
                yield *span, repr(f"{value}-mutant")
            case bytes() if not is_text:
                yield *span, repr(value + b"-mutant")
            case _:
                pass

    def _has_text(self, call: ast.Call) -> bool:
        name = ast.unparse(call.func).rpartition(".")[2]
        return name in self._errors or _TEXT_CALL.search(name) is not None

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, (ast.expr, ast.stmt, ast.keyword))
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._offsets[node.lineno - 1] + node.col_offset
        return start, self._offsets[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self._encoded[start:end].decode()


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])


def _is_block(node: ast.AST) -> bool:
    return isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case))


def _first_line(node: ast.AST) -> int:
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    assert isinstance(node, (ast.stmt, ast.ExceptHandler))
    return node.lineno


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_text(node: ast.expr) -> bool:
    is_string = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_string or isinstance(node, ast.JoinedStr)
