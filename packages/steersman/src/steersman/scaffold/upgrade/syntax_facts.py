"""Facts about the syntax tree of one file: the meaning of its names, the nodes of its scopes."""

import ast
from collections.abc import Iterator
from typing import Final

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def alias_text(name: str, asname: str | None) -> str:
    return f"{name} as {asname}" if asname and asname != name else name


def root_of(node: ast.expr) -> str:
    value = node
    while isinstance(value, ast.Attribute):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def bound_names(imports: list[ast.Import | ast.ImportFrom]) -> dict[str, str | None]:
    """Return the dotted path for each name that ``imports`` bind.

    The path is ``None`` for a name that is imported with two meanings.
    """
    bound: dict[str, str | None] = {}
    for node in imports:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                local, path = alias.asname or alias.name, f"{node.module or ''}.{alias.name}"
                if node.level:
                    path = "." + path
            elif alias.asname:
                local, path = alias.asname, alias.name
            else:
                local = path = alias.name.partition(".")[0]
            bound[local] = path if bound.get(local, path) == path else None
    return bound


def stored_names(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield every name that ``nodes`` bind, except by an import."""
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case _:
                pass


def annotation_strings(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield the string constants in the annotations of ``node``."""
    annotations: list[ast.expr | None] = []
    match node:
        case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation):
            annotations = [annotation]
        case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns):
            annotations = [returns]
        case _:
            pass
    for annotation in annotations:
        for part in ast.walk(annotation) if annotation is not None else ():
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part


def inside(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of one scope.

    These include the statements of nested functions and classes, but not the nodes inside of them.
    """
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (*FUNCTIONS, ast.Lambda)):
            # Decorators, defaults and annotations belong to the enclosing scope.
            around = [*getattr(node, "decorator_list", ()), *node.args.defaults]
            waiting.extend([*around, *(each for each in node.args.kw_defaults if each)])
        elif isinstance(node, ast.ClassDef):
            waiting.extend([*node.decorator_list, *node.bases, *node.keywords])
        else:
            waiting.extend(ast.iter_child_nodes(node))
