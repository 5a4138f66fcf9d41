"""The CEL validation rules of a schema, evaluated for complete objects.

Rules with ``oldSelf`` are evaluated only where the old value can be correlated: through objects,
maps and lists of type map. An error becomes a warning if the value has not changed and failed the
same rule before.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from steersman_cluster.apiserver.cel.errors import NotEvaluated
from steersman_cluster.apiserver.cel.field_selection import escaped
from steersman_cluster.apiserver.cel.schemas.broken_values import mark_broken
from steersman_cluster.apiserver.cel.schemas.declared_schemas import (
    DeclType,
    declared,
    with_resource_fields,
)
from steersman_cluster.apiserver.cel.schemas.ratchet import UNCORRELATED, Correlation, correlated
from steersman_cluster.apiserver.cel.schemas.rules import (
    Exhausted,
    RuleBudget,
    ValidationRule,
    compiled_rule,
)
from steersman_cluster.apiserver.cel.value_conversion import converter
from steersman_cluster.apiserver.cel.values import NONE, Broken
from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid
from steersman_cluster.apiserver.schema.correlation import by_key
from steersman_cluster.apiserver.schema.node import UNSET

_UNKNOWN: Final = NotEvaluated("no such attribute(s): oldSelf")

VALIDATIONS: Final = "x-kubernetes-validations"
EMBEDDED: Final = "x-kubernetes-embedded-resource"


class ValidationResult(NamedTuple):
    """The errors of an object, and the warnings for errors that existed before the write."""

    errors: list[FieldError]
    warnings: list[str]


def has_rules(written: Mapping[str, Any]) -> bool:
    """Whether the schema ``written``, or a schema inside it, contains a CEL rule."""
    if written.get(VALIDATIONS):
        return True
    items, additional = written.get("items"), written.get("additionalProperties")
    return (
        any(has_rules(each) for each in (written.get("properties") or {}).values())
        or (isinstance(items, Mapping) and has_rules(items))
        or (isinstance(additional, Mapping) and has_rules(additional))
    )


class SchemaRules:
    """The compiled CEL rules of one schema."""

    __slots__ = ("_root",)

    def __init__(self, written: Mapping[str, Any], *, is_resource: bool) -> None:
        self._root = _node(written, declared(written, is_resource=is_resource), is_resource)

    def validate(
        self, new: Any, old: Any = UNSET, *, at: str = "", ratchets: bool = True
    ) -> ValidationResult:
        """Return the errors and warnings for ``new``, the value that replaces ``old``.

        ``old`` is unset for a create. ``at`` is the path of the value. If ``ratchets`` is false, no
        error becomes a warning.
        """
        found = ValidationResult([], [])
        if self._root is not None and new is not None:
            was = NONE if old is UNSET or old is None else old
            around = UNCORRELATED if was is NONE or not ratchets else correlated(new, old)
            try:
                self._root.validate(
                    new, was, at or "<nil>", around, _Evaluation(found, RuleBudget())
                )
            except Exhausted as end:
                found.errors.append(end.error)
        return found


class _Evaluation(NamedTuple):
    found: ValidationResult
    budget: RuleBudget


class _Node:
    __slots__ = (
        "additional",
        "convert",
        "correlates",
        "items",
        "keys",
        "mark_broken",
        "properties",
        "rules",
        "type_name",
        "uses_old",
        "written",
    )  # fmt: skip

    def __init__(self, written: Mapping[str, Any], of: DeclType | None, is_resource: bool) -> None:
        self.written = written
        self.type_name = written.get("type") or ""
        self.rules: tuple[ValidationRule, ...] = ()
        if written.get(VALIDATIONS) and of is not None:
            named = of.named("selfType")
            self.rules = tuple(
                compiled_rule(each, named, written, estimates=False)
                for each in written[VALIDATIONS]
            )
        self.uses_old = any(each.uses_old for each in self.rules)
        self.mark_broken = mark_broken(written) if self.uses_old else None
        self.convert = converter(with_resource_fields(written) if is_resource else written)
        self.properties = {
            name: node
            for name, each in (written.get("properties") or {}).items()
            if (node := _property(name, each, of)) is not None
        }
        items, additional = written.get("items"), written.get("additionalProperties")
        inside = None if of is None else of.elements
        self.items = _within(items, inside)
        self.additional = _within(additional, inside)
        self.keys = tuple(written.get("x-kubernetes-list-map-keys") or ())
        self.correlates = written.get("x-kubernetes-list-type") == "map"

    @property
    def matters(self) -> bool:
        return bool(self.rules or self.properties or self.items or self.additional)

    def validate(
        self, value: Any, old: Any, path: str, around: Correlation, asking: _Evaluation
    ) -> None:
        if self.rules:
            self._ask(value, old, path, around, asking)
        if isinstance(value, dict):
            fields = old if isinstance(old, dict) else {}
            self._validate_fields(value, fields, path, around, asking)
        elif isinstance(value, list) and self.items is not None:
            was = by_key(old, self.keys) if self.correlates and isinstance(old, list) else {}
            for index, each in enumerate(value):
                if each is None:
                    continue
                found = by_key([each], self.keys) if was else {}
                before = was.get(next(iter(found)), NONE) if found else NONE
                self.items.validate(
                    each, before, f"{path}[{index}]", around.index(self.written, index), asking
                )

    def _validate_fields(
        self,
        value: dict[str, Any],
        old: dict[str, Any],
        path: str,
        around: Correlation,
        asking: _Evaluation,
    ) -> None:
        if self.additional is not None:
            for key, each in value.items():
                if each is not None:
                    self.additional.validate(
                        each, _was(old, key), f"{path}[{key}]",
                        around.key(self.written, key), asking,
                    )  # fmt: skip
        for name, node in self.properties.items():
            each = value.get(name)
            if each is not None:
                there = name if path == "<nil>" else f"{path}.{name}"
                node.validate(each, _was(old, name), there, around.key(self.written, name), asking)

    def _ask(
        self, value: Any, old: Any, path: str, around: Correlation, asking: _Evaluation
    ) -> None:
        found, budget = asking
        if budget.left <= 0:
            why = (
                "validation failed due to running out of cost budget, no further validation rules"
                " will be run"
            )
            raise Exhausted(invalid(path, self.type_name, why))
        seen, before = value, old
        if self.mark_broken is not None and old is not NONE:
            before = self.mark_broken(old)
        if self.convert is not None:
            seen = self.convert(value)
            before = NONE if old is NONE else self.convert(before)
        if type(before) is Broken:
            before = NotEvaluated(before.message)
        # A messageExpression can use oldSelf if any rule of the same schema uses it.
        message_old = before if self.uses_old and before is not NONE else _UNKNOWN
        for rule in self.rules:
            failure = rule.failure(seen, before, message_old, budget, self.type_name, path)
            if failure is None:
                continue
            error = failure.error
            if error.value is seen:
                error = error._replace(value=value)
            if failure.ratchets and around.is_unchanged(self.written):
                found.warnings.append(str(error))
            else:
                found.errors.append(error)


def _was(old: dict[str, Any], key: str) -> Any:
    value = old.get(key)
    return NONE if value is None else value


def _node(written: Mapping[str, Any], of: DeclType | None, is_resource: bool) -> _Node | None:
    if not has_rules(written):
        return None
    node = _Node(written, of, is_resource)
    return node if node.matters else None


def _within(written: Any, of: DeclType | None) -> _Node | None:
    if not isinstance(written, Mapping):
        return None
    return _node(written, of, bool(written.get(EMBEDDED)))


def _property(name: str, written: Mapping[str, Any], of: DeclType | None) -> _Node | None:
    """Return the rules of a property; None if expressions cannot read the property."""
    is_resource = bool(written.get(EMBEDDED))
    spelled = escaped(name)
    if spelled is None:
        found = declared(written, is_resource=is_resource)
    else:
        found = None if of is None else of.fields.get(spelled)
    return None if found is None else _node(written, found, is_resource)
