"""Finds the kinds in a project's source, and the source for a further version of each.

The source is parsed, not imported: an import would run the author's code and require all its
dependencies.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from steersman.errors import ProjectError
from steersman.manifests import Tree

_STATEMENT = ast.ClassDef | ast.FunctionDef | ast.Assign | ast.AnnAssign

# The keywords of a class statement that define the kind and its version.
_KEYWORDS: Final = frozenset({"group", "version", "kind", "crd"})
_EACH_VERSION: Final = frozenset({"columns", "scale", "selectable_fields"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredKind:
    """A class that declares a kind in a project's source, and the path of its module."""

    path: str
    class_name: str
    group: str
    version: str
    kind: str
    of_another: bool = False  # crd=None: another project defines the kind

    def __str__(self) -> str:
        return f"{self.group}/{self.version} {self.kind} in {self.path}"


def declared_in(sources: Tree) -> tuple[DeclaredKind, ...]:
    """Return every kind that the files ``sources`` declare, in the order of declaration."""
    return tuple(each for path, source in sources.items() for each in _declared(path, source))


def parsed(path: str, source: str) -> ast.Module:
    """Parse ``source``, the text of the Python file ``path``.

    Raise ``ProjectError`` for a syntax error.
    """
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise ProjectError(
            problem=f"{path} is not valid Python" + (f", in line {line}" if line else ""),
            what_now="Correct the file first.",
        ) from error


def types_of(declared: DeclaredKind, source: str) -> str:
    """Return the imports and statements of ``source`` on which the kind's class depends."""
    tree = parsed(declared.path, source)
    statements = [node for node in tree.body if isinstance(node, _STATEMENT)]
    kind = next(each for each in statements if declared.class_name in _bound(each))
    needed = _names(kind)
    kept: list[_STATEMENT] = []
    for each in reversed(statements[: statements.index(kind)]):
        if needed.intersection(_bound(each)):
            kept.insert(0, each)
            needed |= _names(each)
    imports = "\n".join(_imports(tree.body, needed, source))
    parts = [imports, *(_whole_lines(source, each) for each in kept)]
    return "\n\n\n".join(each for each in parts if each)


def bases_of(declared: DeclaredKind, source: str) -> tuple[str, Sequence[str], str]:
    """Return the bases of the kind's class, the keywords in its statement, its docstring.

    All three are source text; a keyword is ``plural=…``, for example.
    """
    tree = parsed(declared.path, source)
    node = next(
        each
        for each in tree.body
        if isinstance(each, ast.ClassDef) and each.name == declared.class_name
    )
    base = ", ".join(map(ast.unparse, node.bases))
    rest = [
        f"{each.arg}={_quoted(each.value)}" for each in node.keywords if each.arg not in _KEYWORDS
    ]
    kept = [
        f"        {each.arg}={ast.get_source_segment(source, each.value)},\n"
        for each in _version_specific_keywords(node)
    ]
    if kept:
        rest.append(f"crd=sm.Crd(\n{''.join(kept)}    )")
    docstring = ast.get_source_segment(source, node.body[0]) if ast.get_docstring(node) else None
    return base, rest, docstring or f'"""{declared.kind}."""'


def _whole_lines(source: str, node: _STATEMENT) -> str:
    """Return a statement with trailing comments and the comments directly above."""
    lines = source.split("\n")
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    first = min(node.lineno, *(each.lineno for each in decorators), node.lineno) - 1
    while first and lines[first - 1].startswith("#"):
        first -= 1
    return "\n".join(lines[first : node.end_lineno])


def _declared(path: str, source: str) -> Iterator[DeclaredKind]:
    for node in parsed(path, source).body:
        if not isinstance(node, ast.ClassDef):
            continue
        keywords = {
            each.arg: each.value.value
            for each in node.keywords
            if isinstance(each.value, ast.Constant) and isinstance(each.value.value, str)
        }
        if "group" in keywords and "version" in keywords:
            yield DeclaredKind(
                path=path,
                class_name=node.name,
                group=keywords["group"],
                version=keywords["version"],
                kind=keywords.get("kind", node.name),
                of_another=_has_no_crd(node),
            )


def _has_no_crd(node: ast.ClassDef) -> bool:
    return any(
        each.arg == "crd" and isinstance(each.value, ast.Constant) and each.value.value is None
        for each in node.keywords
    )


def _bound(node: ast.stmt) -> set[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {each.id for each in targets if isinstance(each, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
        case _:
            return set()


def _names(node: ast.AST) -> set[str]:
    parts: Sequence[ast.AST] = (node,)
    if isinstance(node, ast.ClassDef):
        # Statements that only the stored version's definition needs are not copied.
        crd = [each for each in node.keywords if each.arg == "crd"]
        parts = [each for each in ast.iter_child_nodes(node) if each not in crd]
        parts = [*parts, *_version_specific_keywords(node)]
    inside = (each for part in parts for each in ast.walk(part))
    return {each.id for each in inside if isinstance(each, ast.Name)}


def _version_specific_keywords(node: ast.ClassDef) -> Sequence[ast.keyword]:
    """Return the keywords of ``crd=sm.Crd(…)`` that are specific to one version."""
    crd = next((each.value for each in node.keywords if each.arg == "crd"), None)
    if not isinstance(crd, ast.Call):
        return ()
    return [each for each in crd.keywords if each.arg in _EACH_VERSION]


def _imports(body: Sequence[ast.stmt], needed: set[str], source: str) -> Iterator[str]:
    before: ast.stmt | None = None
    for node in body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        used = [each for each in node.names if _local(each) in needed]
        if used:
            if before is not None and _lines_apart(source, before, node):
                yield ""
            before = node
            if isinstance(node, ast.Import):
                yield from (f"import {ast.unparse(each)}" for each in used)
            else:
                dots = "." * node.level
                names = ", ".join(map(ast.unparse, used))
                yield f"from {dots}{node.module or ''} import {names}"


def _lines_apart(source: str, one: ast.stmt, other: ast.stmt) -> bool:
    between = source.splitlines()[(one.end_lineno or one.lineno) : other.lineno - 1]
    return any(not line.strip() for line in between)


def _local(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _quoted(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return f'"{node.value}"'
    return ast.unparse(node)
