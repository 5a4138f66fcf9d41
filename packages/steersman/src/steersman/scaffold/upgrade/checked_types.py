"""Finds the uses of a variable at which a check or a pattern determines its class.

if isinstance(x, Class):      in the body, and after ``and``
assert isinstance(x, Class)   in the statements after it
if not isinstance(x, Class):  in the statements after it, if the body ends by a jump
match x: case Class():        in the body of the case
case Class() as x:            the same
except Class as x:            in the body of the handler
[… for … if isinstance(…)]    in the element
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

_JUMPS: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)

# The class to which an expression refers; an empty string if it is not steersman's.
ClassOf: TypeAlias = Callable[[ast.expr], str]
Fact: TypeAlias = tuple[str, str]  # a variable and its class
Narrowing: TypeAlias = tuple[list[ast.AST], Iterable[Fact]]


def narrowed_names(tree: ast.AST, class_of: ClassOf) -> dict[int, str]:
    """Return the class of each ``ast.Name`` whose class a check or a pattern determines.

    The keys are the ``id()`` of the nodes. ``class_of`` returns the class to which an expression
    refers.
    """
    found: dict[int, str] = {}
    for node in ast.walk(tree):
        for nodes, facts in _narrowings(node, class_of):
            inner = [each for one in nodes for each in ast.walk(one)]
            for name, path in facts:
                if not any(_binds(each, name) for each in inner):
                    uses = (each for each in inner if isinstance(each, ast.Name))
                    found.update((id(each), path) for each in uses if each.id == name)
    return found


def _narrowings(node: ast.AST, class_of: ClassOf) -> Iterator[Narrowing]:
    match node:
        case ast.If(test=test, body=body) | ast.While(test=test, body=body):
            yield [*body], _facts(test, class_of)
        case ast.IfExp(test=test, body=value):
            yield [value], _facts(test, class_of)
        case ast.BoolOp(op=ast.And(), values=values):
            for index, value in enumerate(values):
                yield [*values[index + 1 :]], _facts(value, class_of)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            for generator in node.generators:
                for index, test in enumerate(generator.ifs):
                    later = generator.ifs[index + 1 :]
                    yield [*results, *later], _facts(test, class_of)
        case ast.ExceptHandler(type=ast.expr() as type_, name=str(name), body=body):
            yield [*body], _fact(name, type_, class_of)
        case ast.Match(subject=subject, cases=cases):
            for case in cases:
                yield _part(case), _matched(case.pattern, subject, class_of)
        case _:
            pass
    for field in ("body", "orelse", "finalbody"):
        statements = getattr(node, field, None)
        if isinstance(statements, list):
            for index, statement in enumerate(statements):
                yield statements[index + 1 :], _facts_after(statement, class_of)


def _part(case: ast.match_case) -> list[ast.AST]:
    return [*case.body, *([case.guard] if case.guard is not None else [])]


def _matched(pattern: ast.pattern, subject: ast.expr, class_of: ClassOf) -> Iterator[Fact]:
    match pattern:
        case ast.MatchAs(pattern=ast.MatchClass(cls=cls) as inner, name=str(name)):
            yield from _fact(name, cls, class_of)
            yield from _matched(inner, subject, class_of)
        case ast.MatchClass(cls=cls) if isinstance(subject, ast.Name):
            yield from _fact(subject.id, cls, class_of)
        case _:
            pass


def _facts_after(statement: ast.stmt, class_of: ClassOf) -> Iterator[Fact]:
    match statement:
        case ast.Assert(test=test):
            yield from _facts(test, class_of)
        case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=test), body=[*_, last], orelse=[]) if (
            isinstance(last, _JUMPS)
        ):
            yield from _facts(test, class_of)
        case _:
            pass


def _facts(test: ast.expr, class_of: ClassOf) -> Iterator[Fact]:
    match test:
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), type_]):
            yield from _fact(name, type_, class_of)
        case ast.BoolOp(op=ast.And(), values=values):
            for value in values:
                yield from _facts(value, class_of)
        case _:
            pass


def _fact(name: str, type_: ast.expr, class_of: ClassOf) -> Iterator[Fact]:
    path = class_of(type_)
    if path:
        yield name, path


def _binds(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=found, ctx=ast.Store() | ast.Del()) | ast.arg(arg=found):
            return found == name
        case ast.ExceptHandler(name=found) | ast.MatchAs(name=found) | ast.MatchStar(name=found):
            return found == name
        case _:
            return False
