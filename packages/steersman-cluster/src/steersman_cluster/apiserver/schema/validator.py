"""Validation of custom resources against their schema, with kube-apiserver's messages.

A schema is compiled to nodes. For each type of value, a node lists the checks that such a value
must pass; for most values there are none. Paths are built only if a check runs.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from steersman.units import same_json
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    invalid,
    not_supported,
    required,
    shown,
    too_long,
    too_many,
    type_invalid,
)
from steersman_cluster.apiserver.schema.correlation import is_unchanged
from steersman_cluster.apiserver.schema.formats import recognized, text_format
from steersman_cluster.apiserver.schema.node import UNSET
from steersman_cluster.apiserver.schema.numbers import is_integral, number_check
from steersman_cluster.apiserver.schema.patterns import compile_pattern

Written: TypeAlias = Mapping[str, Any]
# (value, old value or UNSET, path, errors): appends to the errors.
Check: TypeAlias = Callable[[Any, Any, str, list[FieldError]], None]

_TYPES: Final[Mapping[type, str]] = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
# kube-apiserver's name for the format of a decoded number.
_FORMATS: Final[Mapping[type, str]] = {int: "int64", float: "float64"}


class Validator:
    """The compiled schema of a custom resource, which can validate any number of values."""

    def __init__(self, written: Written) -> None:
        self._root = _Node(written)

    def errors(self, value: Any, *, old: Any = UNSET, at: str = "") -> list[FieldError]:
        """Return the errors in ``value``, which is at the path ``at`` of its object.

        ``old`` is the value that ``value`` replaces. Errors in parts of ``value`` that equal those
        of ``old`` are ignored.
        """
        found: list[FieldError] = []
        self._root.check(value, old, "", found)
        return _placed(found, at) if found else found


def _placed(found: Iterable[FieldError], at: str) -> list[FieldError]:
    placed: dict[tuple[str, str, str], FieldError] = {}
    for error in found:
        name = error.field.removeprefix(".")
        # An error of several alternatives together has no field, as in kube-apiserver.
        field = (f"{at}.{name}" if name else at) if at else name or "<nil>"
        placed.setdefault((error.type, field, error.detail), error._replace(field=field))
    return list(placed.values())


class _Node:
    """A compiled subschema."""

    __slots__ = (
        "additional",
        "all_of",
        "any_of",
        "checks",
        "excluded",
        "format",
        "items",
        "nullable",
        "one_of",
        "properties",
        "types",
        "written",
    )

    def __init__(self, written: Written) -> None:
        self.written = written
        type_name = written.get("type")
        both = ("integer", "string") if written.get("x-kubernetes-int-or-string") else ()
        self.types: tuple[str, ...] = both or ((type_name,) if type_name else ())
        self.nullable = bool(written.get("nullable"))
        format_name = written.get("format") or ""
        self.format = format_name if recognized(format_name, None if both else type_name) else ""
        self.any_of = [_Node(each) for each in written.get("anyOf") or ()]
        self.one_of = [_Node(each) for each in written.get("oneOf") or ()]
        self.all_of = [_Node(each) for each in written.get("allOf") or ()]
        self.excluded = _Node(written["not"]) if isinstance(written.get("not"), Mapping) else None
        self.properties = {
            name: _Node(each) for name, each in (written.get("properties") or {}).items()
        }
        additional, items = written.get("additionalProperties"), written.get("items")
        self.additional = _Node(additional) if isinstance(additional, Mapping) else None
        self.items = _Node(items) if isinstance(items, Mapping) else None
        self.checks = {each: self._checks(each, written) for each in _TYPES}

    def _checks(self, of: type, written: Written) -> tuple[Check, ...]:
        """Return the checks for values of a Python type, in kube-apiserver's order."""
        checks: list[Check | None] = [self._type_check(of)]
        if of is not type(None):
            checks += [
                _any_of(self) if self.any_of else None,
                _one_of(self) if self.one_of else None,
                _all_of(self) if self.all_of else None,
                _excluded(self.excluded) if self.excluded is not None else None,
            ]
        if of is str:
            checks += [_text_check(written), _format_check(self.format)]
        elif of is int or of is float:
            checks.append(number_check(of, written, self.types, self.format))
        elif of is list:
            checks.append(_list_check(self, written))
        if written.get("enum"):
            checks.append(_enum_check(written["enum"]))
        if of is dict:
            checks.append(_object_check(self, written))
        return tuple(each for each in checks if each is not None)

    def _type_check(self, of: type) -> Check | None:
        types, actual = self.types, _TYPES[of]
        if of is type(None):
            if not types or self.nullable:
                return None
            return _TypeCheck(",".join(types), "null")
        numeric = "integer" in types or "number" in types
        if of is float and "integer" in types and "number" not in types:
            actual = "float64" if self.format else actual
            return _TypeCheck(
                self.format or ",".join(types), actual, lambda value: not is_integral(value)
            )
        if actual in types or (of is int and "number" in types):
            return None
        if self.format:
            if of is not str and of is not list:
                return _TypeCheck(self.format, _FORMATS.get(of, ""))
            # kube-apiserver accepts a list in place of a formatted string.
            if not numeric:
                return None
        return _TypeCheck(",".join(types), actual) if types else None

    def check(self, value: Any, old: Any, path: str, found: list[FieldError]) -> None:
        """Add the errors in ``value`` to ``found``."""
        known = len(found)
        for each in self.checks[type(value)]:
            each(value, old, path, found)
        if len(found) > known and old is not UNSET and is_unchanged(value, old, self.written):
            del found[known:]

    def accepts(self, value: Any, path: str) -> bool:
        """Return whether ``value`` is valid."""
        found: list[FieldError] = []
        self.check(value, UNSET, path, found)
        return not found

    def matches(self, value: Any) -> int:
        """Return a score of how much of the schema matches ``value``.

        If all alternatives fail, kube-apiserver reports the errors of the one with the highest
        score.
        """
        if value is None:
            return int(not self.types or self.nullable)
        count = 4 + self._junctor_matches(value)
        if self.types or self.format:
            checks = self.checks[type(value)]
            fails = checks and isinstance(checks[0], _TypeCheck) and checks[0].fails(value)
            count += 1 if fails else 2
        if isinstance(value, str):
            count += 2 if self.format and text_format(self.format) else 1
        elif isinstance(value, list):
            count += 2 + sum(self.items.matches(each) for each in value if self.items)
        elif isinstance(value, dict):
            nodes = (
                (self.properties.get(key, self.additional), each) for key, each in value.items()
            )
            count += 1 + sum(node.matches(each) for node, each in nodes if node is not None)
        elif not isinstance(value, bool):
            count += 2
        return count

    def _junctor_matches(self, value: Any) -> int:
        count = sum(each.matches(value) for each in self.all_of)
        for alternatives, most in ((self.any_of, len(self.any_of)), (self.one_of, 1)):
            fitting = [each for each in alternatives if each.accepts(value, "")]
            if not fitting:
                count += max((each.matches(value) for each in alternatives), default=0)
            elif len(fitting) <= most:
                count += fitting[0].matches(value)
        return count


def _always(_: Any) -> bool:
    return True


class _TypeCheck:
    """A check of the type of a value; ``fails`` decides for each value, or always returns True."""

    __slots__ = ("_actual", "_detail", "fails")

    def __init__(self, wanted: str, actual: str, fails: Callable[[Any], bool] = _always) -> None:
        self._actual = actual
        self._detail = f" in body must be of type {wanted}: {shown(actual)}"
        self.fails = fails

    def __call__(self, value: Any, _old: Any, path: str, found: list[FieldError]) -> None:
        if self.fails(value):
            found.append(type_invalid(path, self._actual, path + self._detail))


def _best(failures: list[tuple[_Node, list[FieldError]]], value: Any) -> list[FieldError]:
    if len(failures) == 1:
        return failures[0][1]
    return max(failures, key=lambda each: each[0].matches(value))[1]


# Ratcheting ignores the errors of an unchanged value as a whole, not those of one alternative.


def _any_of(node: _Node) -> Check:
    def check(value: Any, _old: Any, path: str, found: list[FieldError]) -> None:
        failures: list[tuple[_Node, list[FieldError]]] = []
        for each in node.any_of:
            errors: list[FieldError] = []
            each.check(value, UNSET, path, errors)
            if not errors:
                return
            failures.append((each, errors))
        found.append(invalid("", "", f"{shown(path)} must validate at least one schema (anyOf)"))
        found += _best(failures, value)

    return check


def _one_of(node: _Node) -> Check:
    def check(value: Any, _old: Any, path: str, found: list[FieldError]) -> None:
        failures: list[tuple[_Node, list[FieldError]]] = []
        for each in node.one_of:
            errors: list[FieldError] = []
            each.check(value, UNSET, path, errors)
            if errors:
                failures.append((each, errors))
        fitting = len(node.one_of) - len(failures)
        if fitting == 1:
            return
        how = f"Found {fitting} valid alternatives" if fitting else "Found none valid"
        found.append(
            invalid("", "", f"{shown(path)} must validate one and only one schema (oneOf). {how}")
        )
        if not fitting:
            found += _best(failures, value)

    return check


def _all_of(node: _Node) -> Check:
    def check(value: Any, _old: Any, path: str, found: list[FieldError]) -> None:
        failed = 0
        for each in node.all_of:
            known = len(found)
            each.check(value, UNSET, path, found)
            failed += len(found) > known
        if failed:
            how = ". None validated" if failed == len(node.all_of) else ""
            found.append(
                invalid("", "", f"{shown(path)} must validate all the schemas (allOf){how}")
            )

    return check


def _excluded(node: _Node) -> Check:
    def check(value: Any, _old: Any, path: str, found: list[FieldError]) -> None:
        if node.accepts(value, path):
            found.append(invalid("", "", f"{shown(path)} must not validate the schema (not)"))

    return check


def _text_check(written: Written) -> Check | None:
    longest, shortest = written.get("maxLength"), written.get("minLength")
    pattern = written.get("pattern")
    if longest is None and shortest is None and not pattern:
        return None
    matches = compile_pattern(pattern) if pattern else None

    def check(value: str, _old: Any, path: str, found: list[FieldError]) -> None:
        if longest is not None and len(value) > longest:
            found.append(too_long(path, value, longest))
        elif shortest is not None and len(value) < shortest:
            why = f"{path} in body should be at least {shortest} chars long"
            found.append(invalid(path, value, why))
        elif matches is not None and not matches(value):
            found.append(invalid(path, value, f"{path} in body should match '{pattern}'"))

    return check


def _format_check(name: str) -> Check | None:
    fits = text_format(name) if name else None
    if fits is None:
        return None

    def check(value: str, _old: Any, path: str, found: list[FieldError]) -> None:
        if not fits(value):
            why = f"{path} in body must be of type {name}: {shown(value)}"
            found.append(type_invalid(path, value, why))

    return check


def _enum_check(values: list[Any]) -> Check:
    names = [each if isinstance(each, str) else shown(each) for each in values]
    texts = frozenset(each for each in values if isinstance(each, str))

    def check(value: Any, _old: Any, path: str, found: list[FieldError]) -> None:
        if type(value) is str and value in texts:
            return
        if not any(_equal(value, each) for each in values):
            found.append(not_supported(path, value, names))

    return check


def _equal(value: Any, listed: Any) -> bool:
    if type(value) is float and type(listed) is int:
        # Kube-apiserver truncates the value to an integer before the comparison.
        return int(value) == listed
    return value is not None and same_json(value, listed)


def _list_check(node: _Node, written: Written) -> Check | None:
    items, shortest, longest = node.items, written.get("minItems"), written.get("maxItems")
    # Ratcheting compares an item with the old item with the same keys. Without keys, all items
    # count as new.
    keys = written.get("x-kubernetes-list-map-keys") or ()
    if items is None and shortest is None and longest is None:
        return None

    def check(value: list[Any], old: Any, path: str, found: list[FieldError]) -> None:
        if items is not None:
            known = _by_keys(old, keys) if keys and isinstance(old, list) else {}
            checks = items.checks
            for index, each in enumerate(value):
                if checks[type(each)]:
                    before = known.get(_key(each, keys), UNSET) if known else UNSET
                    items.check(each, before, f"{path}[{index}]", found)
        if shortest is not None and len(value) < shortest:
            why = f"{path} in body should have at least {shortest} items"
            found.append(invalid(path, len(value), why))
        if longest is not None and len(value) > longest:
            found.append(too_many(path, len(value), longest))

    return check


def _by_keys(items: list[Any], keys: Iterable[str]) -> dict[str, Any]:
    return {_key(each, keys): each for each in items}


def _key(item: Any, keys: Iterable[str]) -> str:
    return shown([item.get(key) for key in keys]) if isinstance(item, dict) else ""


def _object_check(node: _Node, written: Written) -> Check | None:
    properties, additional = node.properties, node.additional
    closed = written.get("additionalProperties") is False
    needed: tuple[str, ...] = tuple(written.get("required") or ())
    all_needed = frozenset(needed)
    fewest, most = written.get("minProperties"), written.get("maxProperties")

    def check(value: dict[str, Any], old: Any, path: str, found: list[FieldError]) -> None:
        if fewest is not None and len(value) < fewest:
            why = f"{path} in body should have at least {fewest} properties"
            found.append(invalid(path, len(value), why))
        if most is not None and len(value) > most:
            found.append(too_many(path, len(value), most))
        before: dict[str, Any] = old if type(old) is dict else {}
        for key, each in value.items():
            child = properties.get(key, additional)
            if child is None:
                if closed:
                    why = f"{path}.{key} in body is a forbidden property"
                    found.append(invalid(path, key, why))
            elif child.checks[type(each)]:
                place = f"{path}.{key}" if path or key not in properties else key
                child.check(each, before.get(key, UNSET), place, found)
        if not all_needed <= value.keys():
            found += [required(f"{path}.{key}") for key in needed if key not in value]

    return check
