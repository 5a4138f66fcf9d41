"""Validation of the CEL rules in a CRD's schema: compilation errors and cost limits.

``cost_estimator`` estimates the costs. The errors are sorted as in kube-apiserver.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from steersman_cluster.apiserver.cel.schemas.declared_schemas import (
    REQUEST_BYTES,
    DeclType,
    declared,
)
from steersman_cluster.apiserver.cel.schemas.rules import ValidationRule, compiled_rule
from steersman_cluster.apiserver.cel.schemas.schema_rules import EMBEDDED, VALIDATIONS, has_rules
from steersman_cluster.apiserver.cel.values import MAX_UINT
from steersman_cluster.apiserver.meta.field_errors import FieldError, forbidden, internal, invalid

# The cost limits of one rule, multiplied by the number of its evaluations, and of all rules of a
# schema.
RULE_LIMIT: Final = 10_000_000
SCHEMA_LIMIT: Final = 100_000_000
_MAX_NAMED: Final = 4

ShownRule = Callable[[Mapping[str, Any]], Any]


def rule_errors(
    written: Mapping[str, Any], path: str, known: list[FieldError], *, shown_rule: ShownRule
) -> list[FieldError]:
    """Return the errors of the CEL rules in the schema ``written`` at ``path``.

    ``known`` contains the errors that were already found in this schema. The rules of a part of the
    schema are skipped if ``known`` contains an error in that part. ``shown_rule`` formats a CEL
    rule as error messages show it.
    """
    inspection = _Inspection(tuple(each.field for each in known), shown_rule)
    found = list(inspection.errors(written, _Place(path=path, is_resource=True)))
    return found + inspection.total_errors(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    path: str
    is_resource: bool = False
    # The maximum number of values at this place; None if the schema has no limit.
    often: int | None = 1
    # The path at which old values can no longer be correlated.
    uncorrelated: str | None = None


@dataclass(slots=True)
class _Inspection:
    known: tuple[str, ...]
    shown_rule: ShownRule
    total: int = 0
    costs: list[tuple[int, str]] = field(default_factory=list)

    def errors(self, written: Mapping[str, Any], place: _Place) -> Iterator[FieldError]:
        if not has_rules(written):
            return
        for each, there in _inside(written, place):
            yield from self.errors(each, there)
        rules = written.get(VALIDATIONS) or ()
        if not rules or self._is_wrong(place.path):
            return
        at = f"{place.path}.{VALIDATIONS}"
        of = declared(written, is_resource=place.is_resource)
        if of is None:
            yield internal(
                at,
                "internal error: failed to construct type information for"
                " x-kubernetes-validations rules: unable to convert structural schema to CEL"
                " declarations",
            )
            return
        named = of.named("selfType")
        for index, each in enumerate(rules):
            rule = compiled_rule(each, named, written, estimates=True)
            yield from self._rule_errors(rule, of, place, f"{at}[{index}]")

    def _is_wrong(self, path: str) -> bool:
        return any(each == path or each.startswith((f"{path}.", f"{path}[")) for each in self.known)

    def _rule_errors(
        self, rule: ValidationRule, of: DeclType, place: _Place, at: str
    ) -> Iterator[FieldError]:
        often = (
            REQUEST_BYTES // (of.min_serialized_size + 1) if place.often is None else place.often
        )
        cost = min(MAX_UINT, rule.cost * often)
        if cost > RULE_LIMIT:
            yield forbidden(f"{at}.rule", _too_much("estimated rule cost", cost, RULE_LIMIT))
        self._count(cost, f"{at}.rule")
        for problem in rule.problems:
            yield invalid(f"{at}.{problem.where}", self.shown_rule(rule.written), problem.detail)
        if rule.message_plan is not None:
            cost, where = rule.message_cost, f"{at}.messageExpression"
            if cost > RULE_LIMIT:
                yield forbidden(
                    where, _too_much("estimated messageExpression cost", cost, RULE_LIMIT)
                )
            self._count(cost, where)
        if rule.uses_old and place.uncorrelated is not None:
            yield invalid(
                f"{at}.rule",
                rule.written["rule"],
                "oldSelf cannot be used on the uncorrelatable portion of the schema within"
                f" {place.uncorrelated}",
            )
        elif not rule.uses_old and rule.written.get("optionalOldSelf") is not None:
            yield invalid(
                f"{at}.optionalOldSelf",
                rule.written["optionalOldSelf"],
                "may not be set if oldSelf is not used in rule",
            )

    def _count(self, cost: int, path: str) -> None:
        self.total = min(MAX_UINT, self.total + cost)
        if cost >= SCHEMA_LIMIT // 100:
            self.costs.append((cost, path))

    def total_errors(self, path: str) -> list[FieldError]:
        if self.total <= SCHEMA_LIMIT:
            return []
        why = (
            "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3"
            " schema"
        )
        most = sorted(self.costs, key=lambda each: -each[0])[:_MAX_NAMED]
        what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        return [
            *(forbidden(each, why) for _, each in most),
            forbidden(path, _too_much(what, self.total, SCHEMA_LIMIT)),
        ]


def _inside(
    written: Mapping[str, Any], place: _Place
) -> Iterator[tuple[Mapping[str, Any], _Place]]:
    """Yield each direct child schema and its position."""
    items, additional = written.get("items"), written.get("additionalProperties")
    times = _times(written)
    often = None if place.often is None or times is None else min(MAX_UINT, place.often * times)

    def there(inside: Mapping[str, Any], path: str, uncorrelated: str | None) -> _Place:
        return _Place(
            path=f"{place.path}.{path}",
            is_resource=bool(inside.get(EMBEDDED)),
            often=often,
            uncorrelated=uncorrelated,
        )

    if isinstance(additional, Mapping):
        yield additional, there(additional, "additionalProperties", place.uncorrelated)
    for name, each in (written.get("properties") or {}).items():
        yield each, there(each, f"properties[{name}]", place.uncorrelated)
    if isinstance(items, Mapping):
        uncorrelated = place.uncorrelated
        if uncorrelated is None and written.get("x-kubernetes-list-type") != "map":
            uncorrelated = place.path
        yield items, there(items, "items", uncorrelated)


def _times(written: Mapping[str, Any]) -> int | None:
    """Return how many items or properties a value of the schema can contain; None if unlimited."""
    if written.get("type") == "array":
        limit = written.get("maxItems")
    elif written.get("type") == "object" and written.get("additionalProperties") is not None:
        limit = written.get("maxProperties")
    else:
        return 1
    return None if limit is None else max(0, int(limit))


def _too_much(what: str, cost: int, limit: int) -> str:
    factor = float(cost) / float(limit)
    if factor > 100:
        shown = "more than 100x"
    elif factor < 1.5:
        shown = f"{factor:f}x"
    else:
        shown = f"{factor:.1f}x"
    return (
        f"{what} exceeds budget by factor of {shown} (try simplifying the rule, or adding maxItems,"
        " maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
