"""Breaking changes to a schema, each with a value that is valid only before the change."""

from typing import Any, Final

from tests.unit.manifests.crds import fields

TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": "integer"}
KEEPS: Final = {"x-kubernetes-preserve-unknown-fields": True}

# A schema, a narrower one, and a value that only the first accepts.
BROKEN: list[tuple[Any, Any, Any]] = [
    (TEXT, NUMBER, "a"),
    ({"type": "number"}, NUMBER, 0.5),
    ({"x-kubernetes-int-or-string": True}, NUMBER, "a"),
    (TEXT | {"enum": ["a", "b"]}, TEXT | {"enum": ["a"]}, "b"),
    (TEXT, TEXT | {"enum": ["a"]}, "b"),
    (NUMBER, NUMBER | {"minimum": 0}, -1),
    (NUMBER, NUMBER | {"format": "int32"}, 1 << 40),
    (NUMBER | {"multipleOf": 2}, NUMBER | {"multipleOf": 4}, 2),
    (TEXT, TEXT | {"minLength": 1}, ""),
    (TEXT, TEXT | {"maxLength": 1}, "aa"),
    (TEXT | {"pattern": "^a"}, TEXT | {"pattern": "^b"}, "a"),
    (TEXT, TEXT | {"format": "date-time"}, "now"),
    (TEXT, TEXT | {"format": "k8s-short-name"}, "A b"),
    (
        {"type": "array", "items": TEXT | {"nullable": True}},
        {"type": "array", "items": TEXT},
        [None],
    ),
    (TEXT, TEXT | {"x-kubernetes-validations": [{"rule": "self != 'a'"}]}, "a"),
    (TEXT, TEXT | {"anyOf": [{"minLength": 1}]}, ""),
    (TEXT, TEXT | {"not": {"enum": ["a"]}}, "a"),
    ({"type": "array", "items": TEXT}, {"type": "array", "items": TEXT, "maxItems": 1}, ["a", "b"]),
    (
        {"type": "array", "items": TEXT},
        {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
        ["a", "a"],
    ),
    (fields() | KEEPS, fields(a=TEXT), {"b": "c"}),
    (fields(a=TEXT), fields(), {"a": "b"}),
    (fields(a=TEXT), fields("a", a=TEXT), {}),
    (fields("a", a=TEXT | {"default": "x"}), fields("a", a=TEXT), {}),
    ({"type": "object", "additionalProperties": TEXT}, fields(a=TEXT), {"b": "c"}),
    (fields() | KEEPS, fields() | KEEPS | {"x-kubernetes-embedded-resource": True}, {"b": "c"}),
]
