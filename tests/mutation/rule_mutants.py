"""The mutants of a module with rules: each lacks one rule or one default."""

import ast
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, TypeAlias

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
_ADDS: Final = ("append", "extend")
_MIN_TEXT: Final = 3
_WORD: Final = re.compile(r"[A-Za-z][\w.-]{2,}")

Part: TypeAlias = ast.expr | ast.stmt | ast.keyword


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """The source of a module without one rule, and the words in that rule."""

    line: int
    deleted: str
    source: str
    words: frozenset[str]

    def __str__(self) -> str:
        return f"{self.line}: {' '.join(self.deleted.split())[:100]}"


def mutants(source: str, formats: str = "") -> Iterator[Mutant]:
    """Each mutant of a module, in the order of the source.

    ``formats`` is the source of the module with the checks of formats. It is not imported: a mutant
    must be the first one that imports the API server.
    """
    module = ast.parse(source)
    constants = _words_of_constants(ast.parse(formats)) | _words_of_constants(module)
    offsets = _line_offsets(source)
    for part, replacement, context in sorted(_changes(module), key=lambda each: each[0].lineno):
        start = offsets[part.lineno - 1] + part.col_offset
        assert part.end_lineno is not None
        assert part.end_col_offset is not None
        end = offsets[part.end_lineno - 1] + part.end_col_offset
        encoded = source.encode()
        words = _words(part, constants) | _words(context, {})
        yield Mutant(
            line=part.lineno,
            deleted=encoded[start:end].decode(),
            source=(encoded[:start] + replacement.encode() + encoded[end:]).decode(),
            words=frozenset(words),
        )


# (the part that is replaced, its replacement, the row or function that contains it)
_Change: TypeAlias = tuple[Part, str, ast.AST]


def _changes(module: ast.Module) -> Iterator[_Change]:
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and (name := _function_of_rule(node)):
            yield from _row_changes(node, name)
        elif isinstance(node, ast.FunctionDef):
            if node.returns is not None and "FieldError" in ast.unparse(node.returns):
                yield from _function_changes(node)
            elif "default" in node.name:
                yield from _default_changes(node)


def _function_of_rule(call: ast.Call) -> str:
    is_rule = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    if is_rule and call.func.value.id == "rule":  # type: ignore[attr-defined]
        return call.func.attr  # type: ignore[attr-defined, no-any-return]
    return ""


def _row_changes(call: ast.Call, name: str) -> Iterator[_Change]:
    if name in _WEAKER:
        # ``detail`` is an argument of these two only.
        yield call.func, f"(lambda *r, detail='', **k: rule.{_WEAKER[name]}(*r, **k))", call
    if name in _LISTS:
        yield from ((each, "*()", call) for each in call.args)
    if name not in _CONTAINERS:
        return
    rules = call.args[_CONTAINERS[name] :]
    for keyword in call.keywords:
        if keyword.arg == "otherwise" and isinstance(keyword.value, (ast.List, ast.Tuple)):
            rules = [*rules, *keyword.value.elts]
    for each in rules:
        # The rules in an inner row are deleted one by one.
        if not (isinstance(each, ast.Call) and _function_of_rule(each) in {*_CONTAINERS, *_LISTS}):
            yield each, "*()", call


def _function_changes(function: ast.FunctionDef) -> Iterator[_Change]:
    for node in ast.walk(function):
        match node:
            case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
                yield node, "yield from ()", node
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr))) if attr in _ADDS:
                yield node, "pass", node
            case ast.AugAssign():
                yield node, "pass", node
            case ast.Return(value=ast.expr() as value):
                yield from ((each, new, node) for each, new in _returned_errors(value))
            case _:
                pass


def _returned_errors(value: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    match value:
        case ast.List(elts=elements):
            for each in elements:
                if not (isinstance(each, ast.Starred) and isinstance(each.value, ast.Name)):
                    yield each, "*()"
        case ast.BinOp(left=left, right=right):
            yield from _returned_errors(left)
            yield from _returned_errors(right)
        case ast.IfExp(body=body, orelse=otherwise):
            yield from _returned_errors(body)
            yield from _returned_errors(otherwise)
        case ast.Call() | ast.ListComp():
            yield value, "[]"
        case _:
            pass


def _default_changes(function: ast.FunctionDef) -> Iterator[_Change]:
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(id=name), keywords=keywords) if name in _FILLS:
                yield from ((each, "**{}", node) for each in keywords)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="setdefault"))):
                yield node, "pass", node
            case ast.Assign(targets=[ast.Subscript()]):
                yield node, "pass", node
            case _:
                pass


def _words_of_constants(module: ast.Module) -> dict[str, set[str]]:
    """The words in the definition of each constant and each function."""
    found: dict[str, set[str]] = {}
    for node in module.body:
        match node:
            case (
                ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                | ast.Assign(targets=[ast.Name(id=name)], value=value)
            ):
                found[name] = _words(value, found)
            case ast.FunctionDef(name=name):
                found[name] = _words(node, found)
            case _:
                pass
    return found


def _words(node: ast.AST, constants: Mapping[str, AbstractSet[str]]) -> set[str]:
    found: set[str] = set()
    for each in ast.walk(node):
        match each:
            case ast.Constant(value=str(text)) if len(text) >= _MIN_TEXT:
                found.update(_WORD.findall(text))
            case ast.keyword(arg=str(name)):
                found.add(name)
            case ast.Name(id=name):
                found |= constants.get(name, set())
            case _:
                pass
    return found


def _line_offsets(source: str) -> list[int]:
    """The offset of each line in the encoded source: the columns of ``ast`` are bytes, too."""
    offsets = [0]
    for line in source.encode().splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    return offsets
