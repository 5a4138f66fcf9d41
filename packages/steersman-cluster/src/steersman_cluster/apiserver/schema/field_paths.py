"""Simple JSON paths, ``.spec.size`` or ``.spec['a.b']``, resolved in a schema."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

_PART: Final = re.compile(r"[.\[\]]|'(?:[^'\\]|\\.)*'|[^.\[\]]+")


class BadFieldPath(Exception):
    """The path does not resolve to a field of the schema."""


class SchemaField(NamedTuple):
    """The field that a path resolves to: the names on the path, and the schema of the field."""

    steps: tuple[str, ...]
    schema: Mapping[str, Any]


def resolved(path: str, schema: Mapping[str, Any], *, allows_brackets: bool = True) -> SchemaField:
    """Return the field that ``path`` resolves to; raise ``BadFieldPath`` if there is none.

    The error's message is kube-apiserver's. ``allows_brackets``: whether ``['a.b']`` is valid.
    """
    parts = iter(_PART.findall(path))
    steps: list[str] = []

    def following() -> str:
        part = next(parts, None)
        if part is None:
            raise BadFieldPath("unexpected end of JSON path")
        return str(part)

    for part in parts:
        if part == "[":
            if not allows_brackets:
                raise BadFieldPath("array notation is not allowed")
            name = following()
            if len(name) < 2 or name[0] != "'" or name[-1] != "'":
                raise BadFieldPath(f"expected single quoted string but got {name}")
            name = re.sub(r"\\(.)", r"\1", name[1:-1])
            schema = _step(name, schema)
            if (closing := following()) != "]":
                raise BadFieldPath(f"expected ] but got {closing}")
        elif part == ".":
            name = following()
            schema = _step(name, schema)
        else:
            raise BadFieldPath(f"expected [ or . but got: {part}")
        steps.append(name)
    return SchemaField(tuple(steps), schema)


def path_error(path: str, schema: Mapping[str, Any]) -> str | None:
    """Return the message why ``path`` does not resolve to a field of ``schema``, or None."""
    try:
        resolved(path, schema)
    except BadFieldPath as error:
        return str(error)
    return None


def _step(name: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if schema.get("properties"):
        found = schema["properties"].get(name)
    else:
        additional = schema.get("additionalProperties")
        found = additional if isinstance(additional, Mapping) else None
    if found is None:
        raise BadFieldPath("does not refer to a valid field")
    return dict(found)
