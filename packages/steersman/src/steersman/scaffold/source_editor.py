"""Inserts code into Python source; the existing code stays unchanged.

No I/O: functions receive and return text. Positions are found in the syntax tree, and text is only
inserted, so comments and layout stay as the author wrote them. If the code is not recognized, a
function returns ``None``, and the caller reports which line to add by hand.
"""

import ast
import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

LINE_LENGTH: Final = 100

_Natural: TypeAlias = list[tuple[bool, int, str]]


def with_controller(source: str, controller: str) -> str | None:
    """Return ``source`` with ``controller`` added in ``Manager(controllers=[…])``.

    Return ``None`` unless there is exactly one such list.
    """
    lists = [
        keyword.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and _last_name(node.func) == "Manager"
        for keyword in node.keywords
        if keyword.arg == "controllers" and isinstance(keyword.value, ast.List)
    ]
    if len(lists) != 1:
        return None
    (found,) = lists
    return _with_item(source, _Brackets.of(source, found, found.elts), controller)


def with_import(source: str, module: str, name: str) -> str:
    """Return ``source`` with ``from module import name`` added to the existing imports."""
    imports = [
        node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    for node in imports:
        if isinstance(node, ast.ImportFrom) and node.module == module and node.level == 0:
            if any(alias.name == name and not alias.asname for alias in node.names):
                return source
            if "#" not in _segment(source, node) and not _has_alias(node):
                names = [alias.name for alias in node.names]
                start, end = _span(source, node)
                return _spliced(source, start, end, import_line(module, [*names, name]))
    line = import_line(module, [name])
    own = [
        node
        for node in imports
        if isinstance(node, ast.ImportFrom) and _root(node.module) == _root(module)
    ]
    for node in own:
        behind = _natural(node.module or ""), _has_alias(node)
        if behind > (_natural(module), False):
            start, _ = _span(source, node)
            return _spliced(source, start, start, f"{line}\n")
    if not imports:
        return _after_docstring(source, line)
    _, end = _span(source, (own or imports)[-1])
    end += len(source[end:].partition("\n")[0])  # after a comment on the same line
    # An empty line separates imports of the project's package from those of others.
    return _spliced(source, end, end, ("\n" if own else "\n\n") + line)


def with_served_version(source: str, class_name: str, served: str) -> str | None:
    """Return ``source`` with ``served`` added in ``crd=sm.Crd(also_serves=(…,))`` of a kind.

    ``class_name`` is the class of the kind.
    """
    (node,) = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and node.name == class_name
    ]
    crd = _keyword(node.keywords, "crd")
    if crd is None:
        item = f"crd=sm.Crd(also_serves=({served},))"
        return _with_item(source, _Brackets.of_class(source, node), item)
    if not isinstance(crd, ast.Call) or _last_name(crd.func) != "Crd":
        return None
    others = _keyword(crd.keywords, "also_serves")
    if others is None:
        brackets = _Brackets.of(source, crd, [*crd.args, *crd.keywords])
        return _with_item(source, brackets, f"also_serves=({served},)")
    if not isinstance(others, ast.Tuple):
        return None
    return _with_item(source, _Brackets.of(source, others, others.elts), served)


def import_statement(module: str, names: Sequence[str]) -> str:
    """Return one statement that imports ``names`` in this order, on several lines if it is long."""
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= LINE_LENGTH:
        return line
    return f"from {module} import (\n" + "".join(f"    {each},\n" for each in names) + ")"


def import_line(module: str, names: Sequence[str]) -> str:
    """Return the import of ``names`` from ``module``, formatted as a formatter would.

    Each name with an alias is imported by a separate line.
    """
    ordered = sorted(set(names), key=_import_order)
    plain = [each for each in ordered if " as " not in each]
    by_first_name = {each: f"from {module} import {each}" for each in ordered if each not in plain}
    by_first_name[plain[0]] = import_statement(module, plain)
    return "\n".join(by_first_name[each] for each in sorted(by_first_name, key=_import_order))


def call_lines(head: str, arguments: Sequence[str], tail: str = "") -> str:
    """Return ``head(arguments)tail``, formatted as a formatter would."""
    line = f"{head}({', '.join(arguments)}){tail}"
    if len(line) <= LINE_LENGTH:
        return line
    indent = re.match(r" *", head)[0]  # type: ignore[index]  # it always matches
    inside = f"{indent}    {', '.join(arguments)}"
    if len(inside) > LINE_LENGTH:
        inside = "\n".join(f"{indent}    {each}," for each in arguments)
    return f"{head}(\n{inside}\n{indent}){tail}"


class _Brackets:
    """The content of a pair of brackets: its offsets in the source, and those of each item."""

    def __init__(self, source: str, begin: int, close: int, items: Sequence[ast.AST]) -> None:
        self.begin = begin
        self.close = close
        self.items = sorted(_span(source, each) for each in items)

    @classmethod
    def of(cls, source: str, node: ast.expr, items: Sequence[ast.AST]) -> "_Brackets":
        start, end = _span(source, node)
        if isinstance(node, ast.Call):
            start = source.index("(", _span(source, node.func)[1])
        return cls(source, start + 1, end - 1, items)

    @classmethod
    def of_class(cls, source: str, node: ast.ClassDef) -> "_Brackets":
        items = [*node.bases, *node.keywords]
        last = max(_span(source, each)[1] for each in items)
        # The gap between the last item and the bracket.
        gap = re.compile(r"(?:[\s,]|#[^\n]*)*").match(source, last)
        start = source.index("(", _span(source, node)[0])
        return cls(source, start + 1, gap.end() if gap else last, items)


def _with_item(source: str, brackets: _Brackets, item: str) -> str:
    begin, close = brackets.begin, brackets.close
    indent = _indent(source, close)
    if not brackets.items:
        if source[begin:close].strip():
            # After a comment, the bracket needs a new line.
            return _spliced(source, close, close, f"    {item},\n{indent}")
        return _spliced(source, begin, close, f"\n{indent}    {item},\n{indent}")
    last = brackets.items[-1][1]
    gap = source[last:close]
    if "\n" not in gap:
        longer = _spliced(source, last, close, f", {item}")
        if "\n" in source[begin:close] or len(_line(longer, begin)) <= LINE_LENGTH:
            return longer
        all_items = [*(source[start:end] for start, end in brackets.items), item]
        apart = "".join(f"\n{indent}    {each}," for each in all_items)
        return _spliced(source, begin, close, f"{apart}\n{indent}")
    comma = "" if gap.lstrip().startswith(",") else ","
    start = source.rindex("\n", 0, close) + 1
    added = f"{_indent(source, last)}{item},\n"
    return source[:last] + comma + source[last:start] + added + source[start:]


def _keyword(keywords: Sequence[ast.keyword], name: str) -> ast.expr | None:
    return next((each.value for each in keywords if each.arg == name), None)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _has_alias(node: ast.ImportFrom) -> bool:
    return any(each.asname for each in node.names)


def _root(module: str | None) -> str:
    return (module or "").partition(".")[0]


def _after_docstring(source: str, line: str) -> str:
    first, *_ = [*ast.parse(source).body, None]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        _, end = _span(source, first)
        return _spliced(source, end, end, f"\n\n{line}")
    return f"{line}\n\n{source}"


def _import_order(name: str) -> tuple[int, _Natural]:
    # The order of ruff and isort: constants, classes, other names.
    return 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2, _natural(name)


def _natural(name: str) -> _Natural:
    """Return a sort key by which 9 comes before 10."""
    parts = re.findall(r"\d+|\D+", name.lower())
    return [(not each.isdigit(), int(each) if each.isdigit() else 0, each) for each in parts]


def _line(source: str, offset: int) -> str:
    return source[source.rfind("\n", 0, offset) + 1 :].partition("\n")[0]


def _indent(source: str, offset: int) -> str:
    line = _line(source, offset)
    return line[: len(line) - len(line.lstrip(" "))]


def _segment(source: str, node: ast.AST) -> str:
    start, end = _span(source, node)
    return source[start:end]


def _span(source: str, node: ast.AST) -> tuple[int, int]:
    """Return the start and end of a node, counted in characters of the source."""
    offset = _offsets(source)
    return (
        offset(node.lineno, node.col_offset),  # type: ignore[attr-defined]
        offset(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
    )


def _offsets(source: str) -> Callable[[int, int], int]:
    # The syntax tree counts columns in bytes.
    lines = [f"{line}\n" for line in source.split("\n")]

    def offset(line: int, column: int) -> int:
        before = sum(map(len, lines[: line - 1]))
        return before + len(lines[line - 1].encode()[:column].decode())

    return offset


def _spliced(source: str, start: int, end: int, text: str) -> str:
    return source[:start] + text + source[end:]
