"""The values and fields that an old schema accepts and a new one does not.

A difference is listed if it is certain, and also if it cannot be determined: a changed pattern or
rule may still accept all values that the old one accepted. If the new schema accepts more than the
old one, only a changed type is listed: a client that reads such a value has a variable of the old
type.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

from steersman.manifests.definition.definition import (
    EMBEDDED,
    INT_OR_STRING,
    LIST_MAP_KEYS,
    LIST_TYPE,
    MAP_TYPE,
    META_FIELDS,
    PRESERVE,
    VALIDATIONS,
    Schema,
    alternatives,
    default_of,
    properties_of,
    required_of,
)
from steersman.manifests.definition.text_examples import FORMATS
from steersman.manifests.definition.validation import (
    child_path,
    exact,
    lower_bound,
    schema_errors,
    type_of,
    types_of,
    upper_bound,
)

REFUSED: Final = "the server rejects objects with other values"

_ANYTHING: Final[Schema] = {PRESERVE: True}
_TEXT: Final[Schema] = {"type": "string"}

# Formats that are special cases of another.
_CASES: Final[Mapping[str, str]] = {
    "isbn10": "isbn",
    "isbn13": "isbn",
    "k8sshortname": "k8slongname",
    "uuid3": "uuid",
    "uuid4": "uuid",
    "uuid5": "uuid",
}


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A value or field that a new schema no longer accepts.

    ``what`` states the new rule, and ``why`` what the change breaks.
    """

    path: str
    what: str
    why: str
    drops: bool = False
    """Whether the value is accepted and then pruned."""


Found: TypeAlias = Iterator[Narrowing]


def narrowings(old: Schema, new: Schema) -> Found:
    """Yield each value or field that schema ``old`` accepts and schema ``new`` does not."""
    yield from _narrowed({**old, EMBEDDED: True}, {**new, EMBEDDED: True}, "")


def _narrowed(old: Schema, new: Schema, path: str) -> Found:
    if old == new:
        return
    yield from _null(old, new, path)
    had, has = _types(old), types_of(new)
    if not had <= has:
        yield Narrowing(path, f"is now of type {_type(new)} (previously {_type(old)})", REFUSED)
        return
    if types_of(old) != has:
        yield Narrowing(
            path,
            f"is now of type {_type(new)} (previously {_type(old)})",
            "clients that expect the previous type cannot read all values",
        )
    if old.get("enum"):
        yield from _rejected_enum_values(old, new, path)
    else:
        yield from _enum(new, path, had)
        if "integer" in had:
            yield from _numbers(old, new, path)
        if "string" in had:
            yield from _texts(old, new, path)
    if "string" in had:
        yield from _format(old, new, path)
    if "array" in had:
        yield from _lists(old, new, path)
    if "object" in had:
        yield from _objects(old, new, path)
    yield from _alternatives(old, new, path)
    yield from _rules(old, new, path)
    yield from _default(old, new, path)


def _types(schema: Schema) -> frozenset[str]:
    listed = schema.get("enum")
    if not listed:
        return types_of(schema)
    return types_of(schema) & {type_of(each) for each in listed if each is not None}


def _type(schema: Schema) -> str:
    return "int-or-string" if schema.get(INT_OR_STRING) else str(schema.get("type") or "anything")


def _null(old: Schema, new: Schema, path: str) -> Found:
    # A schema without a type also accepts null.
    is_typed = new.get("type") or new.get(INT_OR_STRING)
    if old.get("nullable") and is_typed and not new.get("nullable"):
        yield Narrowing(path, "can no longer be null", "the server rejects objects with null")


def _rejected_enum_values(old: Schema, new: Schema, path: str) -> Found:
    """Yield a narrowing for each value of the old enum that the new schema rejects."""
    for value in old["enum"]:
        was_accepted = value is not None and not any(
            schema_errors(value, _without_alternatives(old), trusting=True)
        )
        if was_accepted and any(schema_errors(value, _without_alternatives(new))):
            yield Narrowing(
                path, f"no longer accepts {_shown(value)}", "the server rejects objects with it"
            )


def _without_alternatives(schema: Schema) -> Schema:
    """Return the schema without ``allOf``, ``anyOf``, ``oneOf`` and ``not``.

    These alternatives are compared separately.
    """
    return {k: v for k, v in schema.items() if k not in ("allOf", "anyOf", "oneOf", "not")}


def _enum(new: Schema, path: str, had: frozenset[str]) -> Found:
    values = new.get("enum")
    if not values:
        return
    if had == {"boolean"} and all(any(value is each for value in values) for each in (True, False)):
        return
    shown = ", ".join(map(_shown, values))
    yield Narrowing(path, f"now accepts only {shown}", REFUSED)


def _numbers(old: Schema, new: Schema, path: str) -> Found:
    for word, sign, bound in (("minimum", 1, lower_bound), ("maximum", -1, upper_bound)):
        was, now = bound(old), bound(new)
        if now is not None and (was is None or _rank(now, sign) > _rank(was, sign)):
            # The range of a 64-bit integer is not reported.
            before = "none" if was is None or old.get(word) is None else _bound(was)
            yield Narrowing(
                path, f"now has a {word} of {_bound(now)} (previously {before})", REFUSED
            )
    factor = new.get("multipleOf")
    if factor:
        was_factor = old.get("multipleOf") or (1 if old.get("type") == "integer" else None)
        if was_factor is None or (exact(was_factor) / exact(factor)).denominator != 1:
            yield Narrowing(path, f"must now be a multiple of {factor}", REFUSED)


def _rank(bound: tuple[Fraction, bool], sign: int) -> tuple[Fraction, bool]:
    return sign * bound[0], bound[1]


def _bound(bound: tuple[Fraction, bool]) -> str:
    limit = bound[0].numerator if bound[0].denominator == 1 else float(bound[0])
    return f"{limit}, exclusive" if bound[1] else str(limit)


def _texts(old: Schema, new: Schema, path: str) -> Found:
    yield from _sizes(old, new, path, "Length", "characters")
    pattern = new.get("pattern")
    if pattern and pattern != old.get("pattern"):
        before = f" (previously {old['pattern']})" if old.get("pattern") else ""
        yield Narrowing(
            path,
            f"must now match {pattern}{before}",
            "the server rejects objects with a value that does not match",
        )


def _format(old: Schema, new: Schema, path: str) -> Found:
    was, now = (str(each.get("format") or "").replace("-", "") for each in (old, new))
    # Servers ignore unknown formats.
    if now in FORMATS and was != now and _CASES.get(was) != now:
        before = f" (previously {old['format']})" if old.get("format") else ""
        yield Narrowing(
            path,
            f"must now be of the format {new['format']}{before}",
            "the server rejects objects with a value of another format",
        )


def _sizes(old: Schema, new: Schema, path: str, what: str, unit: str) -> Found:
    fewest, most = f"min{what}", f"max{what}"
    if (new.get(fewest) or 0) > (old.get(fewest) or 0):
        yield Narrowing(
            path,
            f"must now have at least {new[fewest]} {unit} (previously {old.get(fewest) or 0})",
            "the server rejects objects with fewer",
        )
    limit = new.get(most)
    if limit is not None and (old.get(most) is None or old[most] > limit):
        before = "any number" if old.get(most) is None else str(old[most])
        yield Narrowing(
            path,
            f"must now have at most {limit} {unit} (previously {before})",
            "the server rejects objects with more",
        )


def _lists(old: Schema, new: Schema, path: str) -> Found:
    yield from _sizes(old, new, path, "Items", "items")
    if new.get("uniqueItems") and not old.get("uniqueItems"):
        yield Narrowing(
            path, "no longer accepts duplicate items", "the server rejects objects with duplicates"
        )
    items = new.get("items") or {}
    if old.get(PRESERVE) and not new.get(PRESERVE) and not items.get(PRESERVE) and old.get("items"):
        yield _dropping(f"{path}[]")
    was, now = (each.get(LIST_TYPE) or "atomic" for each in (old, new))
    if was != now:
        yield Narrowing(path, f"is now a list of type {now} (previously {was})", _merging(now))
    elif set(old.get(LIST_MAP_KEYS) or ()) != set(new.get(LIST_MAP_KEYS) or ()):
        keys = ", ".join(new.get(LIST_MAP_KEYS) or ())
        yield Narrowing(path, f"now identifies its items by {keys}", _merging(now))
    yield from _narrowed(old.get("items") or {}, items, f"{path}[]")


def _merging(list_type: str) -> str:
    if list_type == "atomic":
        return "an apply by one manager removes the items of other managers"
    return "the server rejects duplicate items, and an apply keeps the items of other managers"


def _objects(old: Schema, new: Schema, path: str) -> Found:
    yield from _sizes(old, new, path, "Properties", "fields")
    was, now = (each.get(MAP_TYPE) or "granular" for each in (old, new))
    if was != now:
        whole = now == "atomic"
        yield Narrowing(
            path,
            f"is now a map of type {now} (previously {was})",
            "an apply by one manager removes the fields of other managers"
            if whole
            else "an apply keeps the fields of other managers",
        )
    if new.get(EMBEDDED) and not old.get(EMBEDDED):
        yield Narrowing(
            path,
            "must now be a complete Kubernetes object",
            "the server rejects objects without apiVersion and kind in it",
        )
    yield from _required(old, new, path)
    yield from _fields(old, new, path)


def _required(old: Schema, new: Schema, path: str) -> Found:
    before = required_of(old)
    for name in required_of(new):
        was, now = properties_of(old).get(name, {}), properties_of(new).get(name, {})
        # A field with a default is never missing.
        was_needed = name in before and default_of(was) is None
        if default_of(now) is None and not was_needed:
            yield Narrowing(
                child_path(path, name), "is now required", "the server rejects objects without it"
            )


def _fields(old: Schema, new: Schema, path: str) -> Found:
    before, after = _named(old), properties_of(new)
    for name, was in before.items():
        now = _child(new, name)
        if now is None and new.get("additionalProperties") is False:
            yield Narrowing(
                child_path(path, name), "was removed", "the server rejects objects with it"
            )
        elif now is None:
            yield Narrowing(
                child_path(path, name),
                "was removed",
                "the server drops its value from all objects",
                drops=True,
            )
        else:
            yield from _field(old, new, was, now, name, path)
    for name, now in after.items():
        was_there = _child(old, name) if name not in before else None
        if was_there is not None:
            yield from _field(old, new, was_there, now, name, path)
    was_open, is_open = _others(old), _others(new)
    if was_open is not None and is_open is None:
        yield _dropping(path)
    elif was_open is not None and is_open is not None:
        yield from _narrowed(was_open, is_open, child_path(path, "*"))


def _field(old: Schema, new: Schema, was: Schema, now: Schema, name: str, path: str) -> Found:
    if name == "metadata" and old.get(EMBEDDED) and new.get(EMBEDDED):
        # The schema of metadata is fixed; only names can be limited further.
        for each in ("name", "generateName"):
            before, after = (properties_of(owner).get(each, _TEXT) for owner in (was, now))
            yield from _narrowed(before, after, child_path(child_path(path, name), each))
    else:
        yield from _narrowed(was, now, child_path(path, name))


def _named(schema: Schema) -> Mapping[str, Schema]:
    """Return the properties of a schema, including ``metadata`` and the like for an embedded
    object.
    """
    if not schema.get(EMBEDDED):
        return properties_of(schema)
    implied = {name: _ANYTHING if name == "metadata" else _TEXT for name in META_FIELDS}
    return {**implied, **properties_of(schema)}


def _child(schema: Schema, name: str) -> Schema | None:
    """Return the schema of the field; ``None`` if the field is dropped or rejected."""
    return _named(schema).get(name) or _others(schema)


def _others(schema: Schema) -> Schema | None:
    """Return the schema of unnamed fields; ``None`` if such fields are not accepted."""
    others = schema.get("additionalProperties")
    if isinstance(others, Mapping):
        return others
    if schema.get(PRESERVE):
        return _ANYTHING
    return {} if others is True else None


def _dropping(path: str) -> Narrowing:
    return Narrowing(
        path,
        "no longer keeps fields that its schema does not list",
        "the server drops these fields from all objects",
        drops=True,
    )


def _alternatives(old: Schema, new: Schema, path: str) -> Found:
    was_all, now_all = alternatives(old, "allOf"), alternatives(new, "allOf")
    was_any, now_any = alternatives(old, "anyOf"), alternatives(new, "anyOf")
    changed = {
        "allOf": any(each not in was_all for each in now_all),
        "anyOf": bool(now_any) and (not was_any or any(each not in now_any for each in was_any)),
        "oneOf": bool(new.get("oneOf")) and new.get("oneOf") != old.get("oneOf"),
        "not": new.get("not") is not None and new.get("not") != old.get("not"),
    }
    for key, is_changed in changed.items():
        if is_changed:
            how = "changed" if old.get(key) else "new"
            yield Narrowing(
                path, f"has a {how} {key}", "the server rejects objects that do not match it"
            )


def _rules(old: Schema, new: Schema, path: str) -> Found:
    before = [_rule(each) for each in old.get(VALIDATIONS) or ()]
    after = [_rule(each) for each in new.get(VALIDATIONS) or ()]
    gone = len([each for each in before if each not in after])
    for each in after:
        if each not in before:
            how = "changed" if gone > 0 else "new"
            gone -= 1
            yield Narrowing(
                path, f"has a {how} rule, {each[0]}", "the server rejects objects that violate it"
            )


def _rule(written: Mapping[str, Any]) -> tuple[str, bool]:
    return str(written.get("rule") or "").strip(), bool(written.get("optionalOldSelf"))


def _default(old: Schema, new: Schema, path: str) -> Found:
    was, now = default_of(old), default_of(new)
    if was == now and type(was) is type(now):
        return
    if now is None:
        what, why = (
            f"no longer has a default (previously {_shown(was)})",
            "the server no longer sets the field in objects without it",
        )
    else:
        before = "none" if was is None else _shown(was)
        what = f"now has the default {_shown(now)} (previously {before})"
        why = "objects without the field get another value"
    yield Narrowing(path, what, why)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
