"""Finds the schema at a simple JSON path, such as ``.spec.ports[0].name``."""

import re
from collections.abc import Mapping
from typing import Any, Final

from steersman.manifests.definition.definition import PRESERVE

# A field, a field in brackets, or items of a list: an index, all of them, or a condition.
_step: Final = re.compile(
    r"""
    \. (?P<field> (?: [^.\[\]\\] | \\. )+ )
    | \[ (?P<quote> ['"]) (?P<quoted> .+? ) (?P=quote) \]
    | \[ (?P<place> -?[0-9]* (?: : -?[0-9]* )? | \* | \? \( .*? \) ) \]
    """,
    re.VERBOSE,
).match

_TEXT: Final = {"type": "string"}
_TEXTS: Final = {"type": "object", "additionalProperties": _TEXT}
_MOMENT: Final = {"type": "string", "format": "date-time"}
_NUMBER: Final = {"type": "integer"}

# The schema of fields that every object has, whether or not its schema names them.
_METADATA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "generateName": _TEXT,
        "namespace": _TEXT,
        "uid": _TEXT,
        "resourceVersion": _TEXT,
        "generation": _NUMBER,
        "creationTimestamp": _MOMENT,
        "deletionTimestamp": _MOMENT,
        "deletionGracePeriodSeconds": _NUMBER,
        "labels": _TEXTS,
        "annotations": _TEXTS,
        "finalizers": {"type": "array", "items": _TEXT},
        "ownerReferences": {"type": "array", "items": {PRESERVE: True}},
        "managedFields": {"type": "array", "items": {PRESERVE: True}},
    },
}


class UnresolvedPath(Exception):
    """Raised for a path that does not lead to a schema; the message is the reason."""


def resolve(path: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the subschema of ``schema`` at ``path``; an empty one inside untyped data."""
    here: Mapping[str, Any] = {
        **schema,
        "properties": {**schema.get("properties", {}), "metadata": _METADATA},
    }
    at, walked = 0, ""
    while at < len(path):
        step = _step(path, at)
        if step is None:
            raise UnresolvedPath(f"{path[at:]!r} is not a valid step of a path")
        here = _resolve_step(step, here, walked or "the object")
        at, walked = step.end(), path[: step.end()]
        if not here:
            return here
    return here


def _resolve_step(step: re.Match[str], here: Mapping[str, Any], walked: str) -> Mapping[str, Any]:
    if step["place"] is not None:
        if "items" in here:
            return dict(here["items"])
        if _is_open(here):
            return {}
        raise UnresolvedPath(f"{walked} is not a list")
    name = step["quoted"] or re.sub(r"\\(.)", r"\1", step["field"])
    if name in here.get("properties", {}):
        return dict(here["properties"][name])
    if isinstance(values := here.get("additionalProperties"), Mapping):
        return dict(values)
    if _is_open(here):
        return {}
    raise UnresolvedPath(f"{walked} has no field {name}")


def _is_open(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get(PRESERVE))
