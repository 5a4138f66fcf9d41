"""Go's messages for values of the wrong type in the result of a strategic merge patch.

Go converts that result from maps and lists instead of decoding JSON, so its messages differ.
"""

from collections.abc import Iterator
from typing import Any, Final

from steersman_cluster.apiserver.schema.node import Schema

_KINDS: Final = {
    dict: "map",
    list: "slice",
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
}
_SCALARS: Final = {"string": "string", "boolean": "bool", "number": "float64"}
# Types with their own JSON decoders and error messages.
_OWN_DECODERS: Final = frozenset(("quantity", "int-or-string", "date-time", "micro-time", "byte"))


def misconverted(value: Any, schema: Schema) -> str:
    """Return the message of the first value that does not fit ``schema``; "" if all fit.

    The first value is the one that Go visits first.
    """
    return next(_mismatches(value, schema), "")


def _mismatches(value: Any, schema: Schema) -> Iterator[str]:
    if value is None or schema.preserve_unknown or schema.format in _OWN_DECODERS:
        return
    kind = _KINDS[type(value)]
    if schema.type == "array":
        if kind != "slice":
            yield f"cannot restore slice from {kind}"
        elif schema.items is not None:
            for each in value:
                yield from _mismatches(each, schema.items)
    elif schema.additional is not None:
        if kind != "map":
            yield f"cannot restore map from {kind}"
        else:
            for each in value.values():
                yield from _mismatches(each, schema.additional)
    elif schema.type == "object":
        if kind != "map":
            yield f"cannot restore struct from: {kind}"
        else:
            for name, each in schema.properties.items():
                yield from _mismatches(value.get(name), each)
    elif schema.type is not None:
        yield from _scalar_mismatches(value, kind, schema)


def _scalar_mismatches(value: Any, kind: str, schema: Schema) -> Iterator[str]:
    wanted = _SCALARS.get(schema.type or "") or schema.format or "int64"
    if kind == wanted or (kind == "int64" and wanted in ("int32", "float64")):
        return
    if kind == "int64" and wanted == "string":
        yield f"cannot convert int64 to {schema.go_type}"
    elif kind == "float64" and wanted in ("int32", "int64"):
        if not value.is_integer():
            yield f"cannot convert float64 to {schema.go_type}"
    else:
        yield f"unrecognized type: {wanted}"
