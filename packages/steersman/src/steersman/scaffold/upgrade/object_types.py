"""``ObjectTypes``: the steersman classes of the objects in one file, as far as its syntax shows."""

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from steersman.scaffold.upgrade.checked_types import narrowed_names
from steersman.scaffold.upgrade.rename_map import RenameMap, is_ours
from steersman.scaffold.upgrade.syntax_facts import FUNCTIONS, inside

# Suffixes of a class's path: for an instance of a generic class, and for an instance of a class of
# the file that derives from the class.
GENERIC: Final = "[]"
DERIVED: Final = "<"


class ObjectTypes:
    """The steersman classes of the variables, attributes and calls in one file.

    ``derived`` maps each class of the file to the steersman class from which it derives. ``bound``
    maps imported names to their paths, and ``stored`` contains the names that the file assigns.
    """

    def __init__(
        self,
        tree: ast.AST,
        bound: Mapping[str, str | None],
        stored: Collection[str],
        renames: RenameMap,
    ) -> None:
        self._bound = bound
        self._stored = stored
        self._renames = renames
        self._classes = [each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)]
        self.derived = self._derived_classes()
        self._supers = {
            id(each): self.derived[cls.name]
            for cls in self._classes
            if cls.name in self.derived
            for each in ast.walk(cls)
            if isinstance(each, ast.Call) and ast.unparse(each) == "super()"
        }
        self._narrowed = narrowed_names(tree, self.class_of)
        self._fields = self._fields_of_methods()

    def in_scope(self, scope: ast.AST) -> dict[str, str]:
        """Return the steersman classes of the variables in ``scope``.

        If ``scope`` is a method, this includes its ``self.x``. The value is an empty string for a
        variable without a steersman class.
        """
        return {**self._types_in(scope), **self._fields.get(id(scope), {})}

    def path(self, node: ast.expr) -> str | None:
        """Return the dotted path of the steersman name to which ``node`` refers, or ``None``."""
        match node:
            case ast.Name(id=name) if name not in self._stored:
                path = self._bound.get(name)
                return path if path and is_ours(path) else None
            case ast.Attribute(value=value, attr=name):
                owner = self.path(value)
                return f"{owner}.{name}" if owner else None
            case _:
                return None

    def _types_in(self, scope: ast.AST) -> dict[str, str]:
        types: dict[str, set[str]] = {}
        if isinstance(scope, (*FUNCTIONS, ast.Lambda)):
            arguments = scope.args
            named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            for each in (*named, arguments.vararg, arguments.kwarg):
                if each is not None:
                    plain = each in named and each.annotation is not None
                    types[each.arg] = {self._annotated(each.annotation) if plain else ""}
        handled: set[int] = set()
        for node in inside(scope):
            match node:
                case ast.Assign(targets=[ast.Name() as target], value=value):
                    handled.add(id(target))
                    types.setdefault(target.id, set()).add(self._instance(value))
                case ast.AnnAssign(target=ast.Name() as target, annotation=annotation):
                    handled.add(id(target))
                    types.setdefault(target.id, set()).add(self._annotated(annotation))
                case ast.withitem(context_expr=value, optional_vars=ast.Name() as target):
                    handled.add(id(target))
                    types.setdefault(target.id, set()).add(self._instance(value))
                    types.setdefault(f"{target.id}.value", set()).add(self._raised(value))
                case _:
                    pass
        for node in inside(scope):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                if id(node) not in handled:
                    types.setdefault(node.id, set()).add("")
            elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
                types.setdefault(node.name, set()).add("")
        return {name: found.pop() if len(found) == 1 else "" for name, found in types.items()}

    def _fields_of_methods(self) -> dict[int, dict[str, str]]:
        """Return for each method the steersman class of each ``self.x`` that its class assigns."""
        found: dict[int, dict[str, str]] = {}
        for cls in self._classes:
            methods = {
                id(each): each.args.args[0].arg
                for each in cls.body
                if isinstance(each, FUNCTIONS)
                and each.args.args
                and not any(ast.unparse(one) == "staticmethod" for one in each.decorator_list)
            }
            types: dict[str, set[str]] = {}
            for each in cls.body:
                match each:
                    case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                        types.setdefault(name, set()).add(self._annotated(annotation))
                    case ast.FunctionDef() | ast.AsyncFunctionDef() if id(each) in methods:
                        for name, type_ in self._assigned_fields(each, methods[id(each)]):
                            types.setdefault(name, set()).add(type_)
                    case _:
                        pass
            known = {name: each.pop() for name, each in types.items() if len(each) == 1}
            for method, owner in methods.items():
                found[method] = {f"{owner}.{name}": type_ for name, type_ in known.items()}
                if cls.name in self.derived:
                    found[method][owner] = self.derived[cls.name] + DERIVED
        return found

    def _derived_classes(self) -> dict[str, str]:
        """Map each class of the file to the steersman class from which it derives."""
        names = [each.name for each in self._classes]
        found: dict[str, str] = {}
        for cls in sorted(self._classes, key=lambda each: each.lineno):
            if names.count(cls.name) > 1 or cls.name in self._bound:
                continue
            for base in cls.bases:
                plain = base.value if isinstance(base, ast.Subscript) else base
                local = found.get(plain.id, "") if isinstance(plain, ast.Name) else ""
                path = self.class_of(plain) or local
                if path:
                    found.setdefault(cls.name, path)
        return found

    def class_of(self, node: ast.expr) -> str:
        path = self.path(node) or ""
        return path if path.rpartition(".")[2][:1].isupper() else ""

    def _assigned_fields(
        self, method: ast.FunctionDef | ast.AsyncFunctionDef, owner: str
    ) -> Iterator[tuple[str, str]]:
        parameters = self._types_in(method)
        for node in ast.walk(method):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Store()) if (
                    name == owner
                ):
                    yield attr, self._value_of(node, method, parameters)
                case _:
                    pass

    def _value_of(
        self,
        target: ast.Attribute,
        method: ast.FunctionDef | ast.AsyncFunctionDef,
        parameters: dict[str, str],
    ) -> str:
        for node in ast.walk(method):
            match node:
                case ast.Assign(targets=[found], value=ast.Name(id=name)) if found is target:
                    return parameters.get(name, "")
                case ast.Assign(targets=[found], value=value) if found is target:
                    return self._instance(value)
                case ast.AnnAssign(target=found, annotation=annotation) if found is target:
                    return self._annotated(annotation)
                case _:
                    pass
        return ""

    def _annotated(self, annotation: ast.expr | None) -> str:
        match annotation:
            case ast.Constant(value=str(text)):
                try:
                    return self._annotated(ast.parse(text, mode="eval").body)
                except SyntaxError:
                    return ""
            case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
                return self._annotated(left)
            case ast.Subscript(value=value):
                found = self._annotated(value)
                # A generic class may contain objects of the author's classes.
                return found + GENERIC if found else ""
            case ast.Name(id=name) if name in self.derived:
                return self.derived[name] + DERIVED
            case ast.Name() | ast.Attribute():
                return self.path(annotation) or ""
            case _:
                return ""

    def _instance(self, value: ast.expr) -> str:
        """Return the steersman class of which a call creates an instance."""
        if isinstance(value, ast.Call):
            function = value.func
            generic = isinstance(function, ast.Subscript)
            if isinstance(function, ast.Subscript):
                function = function.value
            if isinstance(function, ast.Name) and function.id in self.derived:
                return self.derived[function.id] + DERIVED
            path = self.class_of(function) or self._result_of(function)
            return path + GENERIC if path and generic else path
        return ""

    def _result_of(self, function: ast.expr) -> str:
        owner, _, name = (self.path(function) or "").rpartition(".")
        return self._renames.result(owner, name) or ""

    def _raised(self, value: ast.expr) -> str:
        """Return the steersman class in ``pytest.raises(Class)``."""
        match value:
            case ast.Call(
                func=ast.Name(id="raises") | ast.Attribute(attr="raises"), args=[type_, *_]
            ):
                return self.class_of(type_)
            case _:
                return ""

    def owner(self, node: ast.expr, known: dict[str, str]) -> str | None:
        """Return the steersman class of the object to which ``node`` refers.

        ``known`` maps variables to their classes. Return an empty string for an attribute of a
        steersman object if the class of that attribute is unknown, and ``None`` if the object may
        be of any class.
        """
        match node:
            case ast.Name() if id(node) in self._narrowed:
                return self._narrowed[id(node)]
            case ast.Name(id=name) if known.get(name):
                return known[name]
            case ast.Call() if id(node) in self._supers:
                return self._supers[id(node)] + DERIVED
            case ast.Call():
                return self._instance(node) or None
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if f"{name}.{attr}" in known:
                return known[f"{name}.{attr}"] or None
            case ast.Attribute(value=value, attr=attr):
                owner = self.owner(value, known)
                if owner is None or owner.endswith(GENERIC):
                    return None
                result = self._renames.result(owner.removesuffix(DERIVED), attr)
                return result or (None if owner.endswith(DERIVED) else "")
            case _:
                return None
