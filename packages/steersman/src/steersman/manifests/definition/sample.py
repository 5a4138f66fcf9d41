"""Generates sample objects from a schema: the smallest objects that satisfy the schema.

A sample contains each required field and each field with a default or an example. Defaults and
examples are copied unchanged. CEL rules are not evaluated. If a rule rejects a generated sample,
add an ``example`` to the field or to its object.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any, Final

from steersman.errors import NoSample
from steersman.manifests.definition.definition import (
    EMBEDDED,
    INT_OR_STRING,
    LIST_MAP_KEYS,
    META_FIELDS,
    PRESERVE,
    Schema,
    alternatives,
    default_of,
    properties_of,
    read_definition,
    required_of,
)
from steersman.manifests.definition.text_examples import FORMATS, texts_like
from steersman.manifests.definition.validation import (
    child_path,
    exact,
    lower_bound,
    schema_errors,
    upper_bound,
)
from steersman.manifests.documents import Document

EXAMPLE: Final = "Give the field an example: `Rule(example=…)`, or `example` in the schema."

# The limit of the combinations of alternatives that are tried.
_MAX_VARIANTS: Final = 200
# A sample with more items is hard to read, and a schema may require a billion.
_MAX_PIECES: Final = 100
_MAX_TEXT_LENGTH: Final = 1000


def sample_of(crd: Document, version: str | None = None) -> Document:
    """Return a small, valid object of the kind that ``crd`` defines.

    The object has the version ``version``; by default, the storage version.
    """
    definition = read_definition(crd)
    found = definition.version(version)
    maker = _SampleMaker(definition.kind)
    properties = properties_of(found.schema)
    limits = properties_of(properties.get("metadata", {})).get("name", {"type": "string"})
    name = maker.first(_texts(f"{definition.kind.lower()}-sample", limits), limits, "metadata.name")
    fields = {k: v for k, v in properties.items() if k not in (*META_FIELDS, "status")}
    needed = [each for each in required_of(found.schema) if each in fields]
    # A spec may be optional, but a sample without one would show nothing.
    shown = list(dict.fromkeys([*needed, *(["spec"] if "spec" in fields else [])]))
    rest = {**found.schema, "properties": fields, "required": shown}
    return {
        "apiVersion": f"{definition.group}/{found.name}",
        "kind": definition.kind,
        "metadata": {"name": name},
        **maker.sample_value(rest, ""),
    }


@dataclass(frozen=True, slots=True)
class _SampleMaker:
    """A generator of valid values."""

    kind: str

    def sample_value(
        self, schema: Schema, path: str, *, number: int = 0, keys: Sequence[str] = ()
    ) -> Any:
        """Return a value that is valid by ``schema``; ``number`` makes the items of a list
        distinct.
        """
        for given in (schema.get("example"), default_of(schema)):
            if given is not None:
                return given
        refusal: NoSample | None = None
        for variant in _variants(schema):
            try:
                value = self._by_type(variant, path, number, keys)
                # All parts have been checked except examples, which are taken as they are.
                return self.first([value], schema, path, trusting=True)
            except NoSample as error:
                refusal = refusal or error
        if schema.get("nullable") and next(schema_errors(None, schema), None) is None:
            return None
        raise refusal or self._refusal(
            path, "no alternative (anyOf, oneOf, allOf) leads to a valid value"
        )

    def first(
        self,
        values: Sequence[Any] | Iterator[Any],
        schema: Schema,
        path: str,
        *,
        trusting: bool = False,
    ) -> Any:
        """Return the first of ``values`` that is valid by the schema."""
        problem = path, "nothing is known of what it may be"
        for value in values:
            found = next(schema_errors(value, schema, path, trusting=trusting), None)
            if found is None:
                return value
            problem = found
        raise self._refusal(problem[0], f"the generated value is invalid: {problem[1]}")

    def _refusal(self, path: str, problem: str) -> NoSample:
        return NoSample(kind=self.kind, field=path or "it", problem=problem, what_now=EXAMPLE)

    def _by_type(self, schema: Schema, path: str, number: int, keys: Sequence[str]) -> Any:
        for key, most in (
            ("minItems", _MAX_PIECES),
            ("minProperties", _MAX_PIECES),
            ("minLength", _MAX_TEXT_LENGTH),
        ):
            if (schema.get(key) or 0) > most:
                raise self._refusal(path, f"its {key} is {schema[key]}")
        if listed := schema.get("enum"):
            return self.first([*listed[number % len(listed) :], *listed], schema, path)
        kind = "integer" if schema.get(INT_OR_STRING) else schema.get("type")
        match kind:
            case "boolean":
                return number % 2 == 1
            case "integer" | "number":
                return self.first(_numbers(schema, number), schema, path)
            case "string":
                return self._text(schema, path, number)
            case "array":
                return self._list(schema, path)
            case _:
                return self._object(schema, path, number, keys)

    def _text(self, schema: Schema, path: str, number: int) -> str:
        form = str(schema.get("format") or "").replace("-", "")
        if form in FORMATS:
            return str(self.first([FORMATS[form]], schema, path))
        name = path.rpartition(".")[2].partition("[")[0] or "text"
        hint = f"{name}{number + 1}" if number else name
        found = self.first(_texts(hint, schema), schema, path)
        return str(found)

    def _list(self, schema: Schema, path: str) -> list[Any]:
        fewest, most = schema.get("minItems") or 0, schema.get("maxItems")
        wanted = max(fewest, 1) if most is None else min(max(fewest, 1), most)
        keys = schema.get(LIST_MAP_KEYS) or ()
        try:
            return [
                self.sample_value(
                    schema.get("items") or {}, f"{path}[{number}]", number=number, keys=keys
                )
                for number in range(wanted)
            ]
        except NoSample:
            if fewest:
                raise
            return []

    def _object(
        self, schema: Schema, path: str, number: int, keys: Sequence[str]
    ) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if schema.get(EMBEDDED):
            made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "example"}}
        needed = required_of(schema)
        for name, each in properties_of(schema).items():
            place = child_path(path, name)
            if name in keys and number:
                # The fields that distinguish items cannot be the same in all of them.
                varied = {k: v for k, v in each.items() if k not in ("default", "example")}
                made[name] = self.sample_value(varied, place, number=number)
            elif name in needed:
                made[name] = self.sample_value(each, place, number=number)
            elif default_of(each) is not None or each.get("example") is not None:
                made[name] = self.sample_value(each, place)
        others = schema.get("additionalProperties")
        values: Schema = others if isinstance(others, Mapping) else {}
        for name in needed:
            if name in properties_of(schema):
                continue
            if not others and not schema.get(PRESERVE) and name not in made:
                raise self._refusal(
                    child_path(path, name), "it is required, but the schema does not define it"
                )
            made[name] = self.sample_value(values, child_path(path, name))
        for count in range(len(made), schema.get("minProperties") or 0):
            key = f"key{count + 1}" if count else "key"
            made[key] = self._another(schema, values, path, key)
        return made

    def _another(self, schema: Schema, values: Schema, path: str, key: str) -> Any:
        """Return a value for the additional field ``key``, which an object needs to reach
        ``minProperties``.
        """
        if properties_of(schema) and not values:
            raise self._refusal(path, "minProperties requires more fields than the schema defines")
        return self.sample_value(values, child_path(path, key))


def _variants(schema: Schema) -> Iterator[Schema]:
    """Yield the schema with each combination of its alternatives resolved, up to a limit."""
    plain = {k: v for k, v in schema.items() if k not in ("allOf", "anyOf", "oneOf")}
    for each in alternatives(schema, "allOf"):
        plain = _merged_schemas(plain, each)
    choices = [alternatives(schema, key) or [{}] for key in ("oneOf", "anyOf")]
    for tried, chosen in enumerate(product(*choices)):
        if tried == _MAX_VARIANTS:
            return
        variant: Schema = plain
        for each in chosen:
            variant = _merged_schemas(variant, each)
        yield variant


def _merged_schemas(schema: Schema, rules: Schema) -> dict[str, Any]:
    """Return one schema that combines ``schema`` and ``rules``, two schemas of the same value."""
    joint = {**schema, **{k: v for k, v in rules.items() if k not in ("allOf", "anyOf", "oneOf")}}
    joint["required"] = list(dict.fromkeys([*required_of(schema), *required_of(rules)]))
    properties = dict(properties_of(schema))
    for name, each in properties_of(rules).items():
        properties[name] = _merged_schemas(properties.get(name, {}), each)
    if properties:
        joint["properties"] = properties
    if schema.get("items") and rules.get("items"):
        joint["items"] = _merged_schemas(schema["items"], rules["items"])
    return joint


def _numbers(schema: Schema, number: int) -> Iterator[float]:
    """Yield numbers that may be valid, those nearest to 1 first.

    ``number`` times ``multipleOf`` (or 1) is added to each, so that items of a list differ.
    """
    low, high = lower_bound(schema), upper_bound(schema)
    step = exact(schema["multipleOf"]) if schema.get("multipleOf") else Fraction(1)
    starts = [Fraction(1), Fraction(0)]
    starts += [low[0], low[0] + step] if low else []
    starts += [high[0], high[0] - step] if high else []
    if low and high:
        starts.append((low[0] + high[0]) / 2)
    for start in sorted(starts, key=lambda each: abs(each - 1)):
        for value in (ceil(start / step) * step + number * step, start + number * step):
            yield value.numerator if value.denominator == 1 else float(value)


def _texts(hint: str, schema: Schema) -> Iterator[str]:
    """Yield strings that may be valid: variants of the field's name, then matches of a pattern."""
    fewest, most = schema.get("minLength") or 0, schema.get("maxLength")
    dashed = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", hint).lower()
    for word in (hint, dashed, hint.lower(), hint.upper(), "example", "1"):
        text = word.ljust(fewest, "x")
        yield text if most is None else text[:most] if len(text) <= most else text[-most:] or ""
    if schema.get("pattern"):
        yield from texts_like(schema["pattern"], fewest=fewest, most=most)
