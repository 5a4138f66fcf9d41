"""Replaces old names in one Python file where the syntax tree shows that they are steersman's.

    from X import name      the module, the name, or both, and all uses of the name
    import X.y              the module, and dotted uses
    object.attribute        if the object is an instance of a steersman class: a parameter with
                            such an annotation, a variable to which only such calls are assigned,
                            or a variable whose class a check determines (``checked_types.py``)
    case Class(attribute=…) if the class is imported from steersman
    def method              in a class that derives from a steersman class
    call(keyword=…)         if the function is imported from steersman, or is a method of such
                            an object
    class X(keyword=…)      if the class derives from a steersman class
    "X.y"                   a string that is exactly the dotted path of something that moved

Everything else stays byte for byte. An old name is kept, with ``import new as old``, if the file
also uses it for something else or lists it in ``__all__``, or if another file imports it from this
file.
"""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from steersman import kinds
from steersman.scaffold.source_editor import import_statement
from steersman.scaffold.upgrade.object_types import DERIVED, GENERIC, ObjectTypes
from steersman.scaffold.upgrade.rename_map import PACKAGES, RenameMap, is_ours
from steersman.scaffold.upgrade.syntax_facts import (
    FUNCTIONS,
    alias_text,
    annotation_strings,
    bound_names,
    inside,
    root_of,
    stored_names,
)

_KINDS: Final = "steersman.kinds"
_PART: Final = f"{_KINDS}.Part"

_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)?")

Spanned: TypeAlias = ast.expr | ast.stmt | ast.alias | ast.keyword | ast.pattern


@dataclass
class RenamedFile:
    """The new text of a file, and the old and new form of each name that was replaced."""

    text: str
    names: set[tuple[str, str]] = field(default_factory=set)


def renamed_python(
    text: str, renames: RenameMap, *, exported: Collection[str] = frozenset()
) -> RenamedFile:
    """Return ``text``, a Python file, with current names; ``SyntaxError`` if it is invalid.

    ``exported`` are the names that other files of the project import from any of its modules.
    """
    if not any(package in text for package in PACKAGES):
        return RenamedFile(text)
    return _File(text, renames, exported).renamed()


def imported_elsewhere(text: str) -> frozenset[str]:
    """Return the names in ``text`` that are imported from modules other than steersman's."""
    if "import" not in text:
        return frozenset()
    return frozenset(
        alias.name
        for node in ast.walk(ast.parse(text.removeprefix("\ufeff")))
        if isinstance(node, ast.ImportFrom) and (node.level or not is_ours(node.module or ""))
        for alias in node.names
    )


def _is_kind(base: str) -> bool:
    """Return whether a class of steersman is a part of objects."""
    module, _, name = base.rpartition(".")
    return module.startswith(_KINDS) or (module == "steersman" and name in kinds.__all__)


class _File:
    def __init__(self, text: str, renames: RenameMap, exported: Collection[str]) -> None:
        body = text.removeprefix("\ufeff")
        self._mark = text[: len(text) - len(body)]
        self._source = body.encode("utf-8")
        self._tree = ast.parse(self._source)
        self._renames = renames
        self._exported = exported
        self._newline = b"\r\n" if b"\r\n" in self._source else b"\n"
        self._starts = [match.start() for match in _LINE.finditer(self._source)]
        self._edits: dict[tuple[int, int], bytes] = {}
        self._names: set[tuple[str, str]] = set()
        nodes = list(ast.walk(self._tree))
        self._imports = [each for each in nodes if isinstance(each, ast.Import | ast.ImportFrom)]
        self._bound = bound_names(self._imports)
        self._stored = frozenset(stored_names(nodes))
        self._mentioned = self._stored.union(
            (each.id for each in nodes if isinstance(each, ast.Name)), self._bound
        )
        self._annotations = frozenset(
            id(part) for each in nodes for part in annotation_strings(each)
        )
        self._strings = frozenset(self._plain_strings())
        self._joined = {
            id(part): each
            for each in nodes
            if isinstance(each, ast.JoinedStr)
            for part in ast.walk(each)
        }
        self._types = ObjectTypes(self._tree, self._bound, self._stored, renames)
        self._new_locals: dict[str, str] = {}
        self._extra_imports: set[str] = set()
        self._replaced: set[int] = set()  # nodes inside replaced nodes

    def renamed(self) -> RenamedFile:
        for node in self._imports:
            if isinstance(node, ast.ImportFrom):
                self._rename_from(node)
            else:
                self._rename_import(node)
        self._rename_uses(self._tree)
        self._rename_members(self._tree, {})
        source = self._source
        for (start, end), new in sorted(self._edits.items(), reverse=True):
            source = source[:start] + new + source[end:]
        return RenamedFile(self._mark + source.decode("utf-8"), self._names)

    # Imports

    def _rename_from(self, node: ast.ImportFrom) -> None:
        if node.level or node.module is None or not is_ours(node.module):
            return
        groups: dict[str, list[tuple[ast.alias, str, str | None]]] = {}
        changed = False
        for alias in node.names:
            old = f"{node.module}.{alias.name}"
            if alias.name == "*":
                module, name = self._renames.current(node.module), "*"
            else:
                module, _, name = self._renames.current(old).rpartition(".")
            asname = alias.asname
            if (module, name) != (node.module, alias.name):
                changed = True
                self._note(old, f"{module}.{name}")
            if name != alias.name and asname is None:
                asname = self._local_name(alias.name, name)
            groups.setdefault(module, []).append((alias, name, asname))
        if not changed:
            return
        if len(groups) == 1:
            (module, entries), *_ = groups.items()
            self._replace_module(node, module)
            for alias, name, asname in entries:
                if (name, asname) != (alias.name, alias.asname):
                    self._replace(alias, alias_text(name, asname))
            return
        self._split(
            node,
            [
                import_statement(
                    module, [alias_text(name, asname) for _, name, asname in entries]
                ).split("\n")
                for module, entries in groups.items()
            ],
        )

    def _local_name(self, old: str, new: str) -> str | None:
        """Return the local name to import ``new`` as; ``None`` if all uses in the file can be
        renamed.
        """
        elsewhere = (
            old in self._stored
            or old in self._exported
            or old in self._strings
            or new in self._mentioned
            or self._bound.get(old) is None
        )
        if elsewhere:
            return old
        self._new_locals[old] = new
        return None

    def _plain_strings(self) -> Iterator[str]:
        """Yield the string constants that are not annotations."""
        for each in ast.walk(self._tree):
            match each:
                case ast.Constant(value=str(text)) if id(each) not in self._annotations:
                    yield text
                case _:
                    pass

    def _replace_module(self, node: ast.ImportFrom, module: str) -> None:
        start, _ = self._span(node)
        found = re.compile(rb"from\s+(" + re.escape((node.module or "").encode()) + rb")\b").match(
            self._source, start
        )
        if found is not None and module != node.module:
            self._edits[found.span(1)] = module.encode()

    def _split(self, node: ast.ImportFrom, statements: list[list[str]]) -> None:
        start, end = self._span(node)
        line_start = self._starts[node.lineno - 1]
        before = self._source[line_start:start]
        if before.strip():  # after a colon or a semicolon
            flat = [" ".join(lines).replace("( ", "(").replace(", )", ")") for lines in statements]
            self._edits[start, end] = "; ".join(flat).encode()
            return
        indent = before.decode("utf-8")
        comments = [
            each.strip().decode("utf-8")
            for each in re.findall(rb"#[^\r\n]*", self._source[start:end])
        ]
        lines = [*comments, *(line for statement in statements for line in statement)]
        self._edits[start, end] = f"{self._newline.decode()}{indent}".join(lines).encode()

    def _rename_import(self, node: ast.Import) -> None:
        for alias in node.names:
            new = self._renames.current(alias.name)
            if new == alias.name:
                continue
            self._note(alias.name, new)
            text = alias_text(new, alias.asname)
            if alias.asname is None and self._still_uses(alias.name):
                text += f", {alias.name.partition('.')[0]}"
            self._replace(alias, text)

    def _still_uses(self, imported: str) -> bool:
        """Whether the file uses the package of a moved module for anything else."""
        root = imported.partition(".")[0]
        others = [
            alias.name
            for node in self._imports
            if isinstance(node, ast.Import)
            for alias in node.names
            if alias.asname is None and alias.name != imported
        ]
        if any(self._renames.current(each).partition(".")[0] == root for each in others):
            return False
        return any(
            self._renames.current(path) == path
            for path in self._dotted_uses()
            if path.partition(".")[0] == root
        )

    def _dotted_uses(self) -> Iterator[str]:
        inner = {id(each.value) for each in ast.walk(self._tree) if isinstance(each, ast.Attribute)}
        for each in ast.walk(self._tree):
            if isinstance(each, ast.Attribute | ast.Name) and id(each) not in inner:
                path = self._types.path(each)
                if path is not None:
                    yield path

    # Uses of imported names

    def _rename_uses(self, tree: ast.AST) -> None:
        for node in ast.walk(tree):
            match node:
                case ast.Name(id=name) if name in self._new_locals:
                    self._replace_word(node, name, self._new_locals[name])
                case ast.Constant(value=str(value)) if id(node) in self._annotations:
                    self._rename_annotation(node)
                case ast.Constant(value=str(value)):
                    self._rename_string(node, value)
                case ast.Attribute():
                    self._rename_dotted(node)
                case _:
                    pass

    def _rename_annotation(self, node: ast.Constant) -> None:
        start, end = self._span(node)
        text = self._source[start:end]
        for old, new in self._new_locals.items():
            text = re.sub(rb"(?<![\w.])" + old.encode() + rb"(?!\w)", new.encode(), text)
        if text != self._source[start:end]:
            self._edits[start, end] = text

    def _rename_string(self, node: ast.Constant, value: str) -> None:
        """Replace a string that is exactly a dotted path, or the name of a metric."""
        new = value
        if re.fullmatch(r"\w+(\.\w+)+", value) and is_ours(value):
            new = self._renames.current(value)
        elif value in self._renames.metrics:
            new = self._renames.metrics[value]
        start, end = self._span(node)
        if new != value and self._source[start:end][1:-1] == value.encode():
            self._note(value, new)
            self._edits[start + 1, end - 1] = new.encode()

    def _rename_dotted(self, node: ast.Attribute) -> None:
        """Replace ``module.name``, where ``import`` binds the module."""
        path = self._types.path(node)
        new = self._renames.current(path) if path is not None else None
        if path is None or new is None or new == path or id(node) in self._replaced:
            return
        root = root_of(node)
        parent, _, name = new.rpartition(".")
        if self._bound[root] != root and parent == self._renames.current(path.rpartition(".")[0]):
            # The import of the owner was renamed.
            if name != node.attr:
                self._replace_attribute(node, name)
        else:
            self._replace(node, new)
            self._import(parent, beside=root)
            self._replaced.update(map(id, ast.walk(node)))
        self._note(path, new)

    def _import(self, module: str, *, beside: str) -> None:
        """Add an ``import`` of a module, next to the import that binds a name."""
        if module in self._extra_imports or any(
            f"{self._renames.current(alias.name)}.".startswith(f"{module}.")
            for node in self._imports
            if isinstance(node, ast.Import)
            for alias in node.names
            if alias.asname is None
        ):
            return
        self._extra_imports.add(module)
        node = next(
            node
            for node in self._imports
            for alias in node.names
            if beside == (alias.asname or alias.name.partition(".")[0])
        )
        start, end = self._span(node)
        before = self._source[self._starts[node.lineno - 1] : start]
        between = b"; " if before.strip() else self._newline + before
        self._edits[end, end] = between + f"import {module}".encode()

    # Attributes and keywords

    def _rename_members(self, scope: ast.AST, outer: dict[str, str]) -> None:
        known = {**outer, **self._types.in_scope(scope)}
        for node in inside(scope):
            if isinstance(node, ast.Attribute):
                self._rename_attribute(node, known)
            elif isinstance(node, ast.Call):
                self._rename_keywords(node, known)
            elif isinstance(node, ast.MatchClass):
                self._rename_pattern(node)
            elif isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
                if isinstance(node, ast.ClassDef):
                    self._rename_methods(node)
                    self._rename_class_keywords(node)
                # The variables of a class are not in scope in its methods.
                self._rename_members(node, outer if isinstance(scope, ast.ClassDef) else known)

    def _rename_attribute(self, node: ast.Attribute, known: dict[str, str]) -> None:
        owner = self._types.owner(node.value, known)
        if owner is None:
            path = self._types.path(node.value)  # an attribute of the class itself
            if path is None or not path.rpartition(".")[2][:1].isupper():
                return
            owner = path
        new = self._new_attribute(owner, node.attr)
        if new is not None:
            self._replace_attribute(node, new)

    def _new_attribute(self, owner: str, name: str) -> str | None:
        if owner.endswith(DERIVED):
            return self._renames.inherited(owner.removesuffix(DERIVED), name)
        return self._renames.attribute(owner.removesuffix(GENERIC), name)

    def _rename_methods(self, cls: ast.ClassDef) -> None:
        """Rename the methods that override a renamed method of a steersman class."""
        base = self._types.derived.get(cls.name)
        for each in cls.body:
            if base is not None and isinstance(each, FUNCTIONS):
                new = self._renames.inherited(base, each.name)
                start, _ = self._span(each)
                found = re.compile(rb"(?:async\s+)?def\s+(\w+)").match(self._source, start)
                if new is not None and found is not None:
                    self._edits[found.span(1)] = new.encode()
                    self._note(each.name, new)

    def _rename_class_keywords(self, cls: ast.ClassDef) -> None:
        base = self._types.derived.get(cls.name)
        # Only parts have class keywords of steersman; those of other classes are the author's own.
        for each in cls.keywords if base is not None and _is_kind(base) else ():
            new = each.arg and self._renames.keyword(_PART, each.arg)
            if each.arg and new:
                self._replace_word(each, each.arg, new)

    def _rename_pattern(self, node: ast.MatchClass) -> None:
        owner = self._types.class_of(node.cls)
        for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            new = self._renames.attribute(owner, name) if owner else None
            start, _ = self._span(pattern)
            begin, _ = self._span(node)
            keyword = re.compile(rb"\b(" + name.encode() + rb")\s*=[\s(]*\Z")
            found = keyword.search(self._source[begin:start])
            if new is not None and found is not None:
                at = begin + found.start(1)
                self._edits[at, at + len(name.encode())] = new.encode()
                self._note(name, new)

    def _rename_keywords(self, node: ast.Call, known: dict[str, str]) -> None:
        path = self._types.path(
            node.func.value if isinstance(node.func, ast.Subscript) else node.func
        )
        if path is None and isinstance(node.func, ast.Attribute):
            owner = self._types.owner(node.func.value, known)
            if owner is not None:
                cls = owner.removesuffix(GENERIC).removesuffix(DERIVED)
                path = f"{cls}.{node.func.attr}".removeprefix(".")
        if path is None:
            return
        for each in node.keywords:
            new = each.arg and self._renames.keyword(path, each.arg)
            if each.arg and new:
                self._replace_word(each, each.arg, new)

    # Edits

    def _span(self, node: Spanned) -> tuple[int, int]:
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0),
        )

    def _note(self, old: str, new: str) -> None:
        self._names.add(self._renames.entry(old) or (old, new))

    def _replace(self, node: ast.expr | ast.alias, text: str) -> None:
        self._edits[self._span(node)] = text.encode()

    def _replace_word(self, node: ast.expr | ast.keyword, old: str, new: str) -> None:
        """Replace the word with which a node begins."""
        start, _ = self._span(node)
        word = old.encode()
        if self._source[start : start + len(word)] == word:
            self._edits[start, start + len(word)] = new.encode()
        else:
            self._replace_in_joined(node, rb"(?<![\w.])" + word + rb"(?!\w)", new)
        self._note(old, new)

    def _replace_attribute(self, node: ast.Attribute, new: str) -> None:
        _, end = self._span(node)
        word = node.attr.encode()
        if self._source[end - len(word) : end] == word and id(node) not in self._joined:
            self._edits[end - len(word), end] = new.encode()
        else:
            self._replace_in_joined(node, rb"(?<=\.)" + word + rb"(?!\w)", new)
        self._note(node.attr, new)

    def _replace_in_joined(self, node: ast.AST, pattern: bytes, new: str) -> None:
        # Before Python 3.12, nodes inside an f-string have no positions.
        joined = self._joined.get(id(node))
        if joined is None:
            return
        start, end = self._span(joined)
        for braces in re.finditer(rb"\{[^{}]*\}", self._source[start:end]):
            for found in re.finditer(pattern, braces[0]):
                place = start + braces.start()
                self._edits[place + found.start(), place + found.end()] = new.encode()
