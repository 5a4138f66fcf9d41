"""Objects generated from the schemas of a kind, independently of the classes under test."""

import base64
from random import Random
from typing import Any, Protocol

from tests.unit.kinds.schemas import referred, schemas

_APIMACHINERY = "io.k8s.apimachinery.pkg"
_APIEXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"

# Values for schemas that describe less than what the server sends; the emptiest value first.
_KNOWN: dict[str, list[Any]] = {
    f"{_APIMACHINERY}.api.resource.Quantity": ["0", "100m", "1.50", "1536Mi", "1e3", "-5"],
    f"{_APIMACHINERY}.apis.meta.v1.FieldsV1": [{}, {"f:spec": {"f:a": {}}}, {".": {}, "v:1": {}}],
    f"{_APIMACHINERY}.apis.meta.v1.MicroTime": [
        "2026-01-02T03:04:05.000000Z",
        "2026-01-02T03:04:05.678901Z",
    ],
    f"{_APIMACHINERY}.apis.meta.v1.Patch": [{}],
    f"{_APIMACHINERY}.apis.meta.v1.Time": ["1970-01-01T00:00:00Z", "2026-01-02T03:04:05Z"],
    f"{_APIMACHINERY}.runtime.RawExtension": [{}, {"kind": "X", "b": [1, None, {"a": ""}]}],
    f"{_APIMACHINERY}.util.intstr.IntOrString": [0, "", 8080, "http", "25%"],
    f"{_APIEXTENSIONS}.JSON": [0, "", False, [], {}, {"a": [1, {}]}, 1.5, "x"],
    f"{_APIEXTENSIONS}.JSONSchemaPropsOrArray": [{}, [{}], {"type": "string"}],
    f"{_APIEXTENSIONS}.JSONSchemaPropsOrBool": [False, True, {"type": "string"}],
    f"{_APIEXTENSIONS}.JSONSchemaPropsOrStringArray": [[], ["a"], {"type": "string"}],
}

_TEXTS = ["", "a", "web-0", "größer 🙂", 'quo"ted\\\n', "0", "null"]
_KEYS = ["a", "example.com/a.b_c", "", "camelCase", "ключ"]
_WHOLE = {"int32": [0, 1, -1, 2**31 - 1, -(2**31)], "int64": [0, 7, -1, 2**63 - 1, -(2**63)]}
_NUMBERS = [0, 0.5, -2, 1e30]
_BYTES = [base64.b64encode(data).decode() for data in (b"", b"a", b"\x00\xff\x10")]

# The classes require these fields, even where the schemas do not.
_CONDITION = {"type", "status"}
_KIND = {"apiVersion", "kind", "metadata"}


class ValueChooser(Protocol):
    """Chooses the optional fields, lengths and values of a generated object."""

    def has(self, depth: int) -> bool:
        """Whether an optional field is present."""
        ...

    def count(self) -> int:
        """The number of elements of a list or map."""
        ...

    def one_of(self, values: list[Any]) -> Any:
        """One of the possible values, of which the first is the emptiest."""
        ...


class RequiredOnly:
    """Only the required fields."""

    def has(self, depth: int) -> bool:
        return False

    def count(self) -> int:
        return 0

    def one_of(self, values: list[Any]) -> Any:
        return values[0]


class AllEmpty(RequiredOnly):
    """All fields, each explicitly zero, false or empty."""

    def has(self, depth: int) -> bool:
        return True


class AllFilled(RequiredOnly):
    """All fields, each with a value."""

    def has(self, depth: int) -> bool:
        return True

    def count(self) -> int:
        return 1

    def one_of(self, values: list[Any]) -> Any:
        return values[-1]


class RandomChooser:
    """Random fields and values; fewer at greater depth."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def has(self, depth: int) -> bool:
        return self._rng.random() < 1 / (1 + depth / 2)

    def count(self) -> int:
        return self._rng.choice([0, 1, 1, 2])

    def one_of(self, values: list[Any]) -> Any:
        return self._rng.choice(values)


def specimen(component: str, chooser: ValueChooser) -> Any:
    """An object of the schema with this full name."""
    return _component(component, chooser, ())


def without_nulls(value: Any) -> Any:
    """The value without its null fields."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [without_nulls(each) for each in value]
    return value


def _component(name: str, chooser: ValueChooser, inside: tuple[str, ...]) -> Any:
    if name in _KNOWN:
        return chooser.one_of(_KNOWN[name])
    schema = schemas()[name]
    fields, required = schema.get("properties", {}).keys(), set(schema.get("required", ()))
    if name.endswith("Condition"):
        required |= fields & _CONDITION
    kinds = schema.get("x-kubernetes-group-version-kind", ())
    if kinds:
        required |= fields & _KIND
    value = _value({**schema, "required": required}, chooser, (*inside, name))
    if kinds and "kind" in fields:
        value["apiVersion"] = f"{kinds[0]['group']}/{kinds[0]['version']}".lstrip("/")
        value["kind"] = kinds[0]["kind"]
    return value


def _value(schema: dict[str, Any], chooser: ValueChooser, inside: tuple[str, ...]) -> Any:
    if component := referred(schema):
        return _component(component, chooser, inside)
    if "enum" in schema:
        return chooser.one_of(schema["enum"])
    match schema.get("type"), schema.get("format"):
        case "object", _ if "properties" in schema:
            return _object(schema, chooser, inside)
        case "object", _:
            values = schema.get("additionalProperties", {"type": "string"})
            return {_KEYS[n]: _value(values, chooser, inside) for n in range(chooser.count())}
        case "array", _:
            return [_value(schema["items"], chooser, inside) for _ in range(chooser.count())]
        case "string", "byte":
            return chooser.one_of(_BYTES)
        case "string", _:
            return chooser.one_of(_TEXTS)
        case "integer", str(size):
            return chooser.one_of(_WHOLE[size])
        case "number", _:
            return chooser.one_of(_NUMBERS)
        case "boolean", _:
            return chooser.one_of([False, True])
        case unknown:
            raise AssertionError(f"no idea how to make {unknown}")


def _object(
    schema: dict[str, Any], chooser: ValueChooser, inside: tuple[str, ...]
) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for field, each in schema["properties"].items():
        # JSONSchemaProps contain themselves; one level is enough.
        item = each.get("items") or each.get("additionalProperties") or each
        too_deep = inside.count(referred(item) or "") > 1
        if field in schema["required"] or (chooser.has(len(inside)) and not too_deep):
            value[field] = _value(each, chooser, inside)
        elif chooser.one_of(["left out", "null"]) == "null":
            value[field] = None
    return value
