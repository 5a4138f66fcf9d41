"""The result of a patch as JSON with Go's order of fields, for error messages.

In Go, an object that the patch changes, or that contains such an object, is a map, whose keys are
sorted. All other objects have the order of their Go types, or are sorted if they have no Go type.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.schema.node import Schema

_Steps: TypeAlias = tuple[str, ...]
# Orders a value that is not on the patch's path.
_Write: TypeAlias = Callable[[Any, Schema | None], Any]

_NOTHING: Final = Schema()


def in_go_order(value: Any, schema: Schema | None) -> Any:
    """Return ``value`` with fields in the order of the Go types, and with sorted maps."""
    if schema is None or schema.preserve_unknown:
        return value
    if isinstance(value, list):
        return [in_go_order(each, schema.items) for each in value]
    if not isinstance(value, dict):
        return value
    if not schema.properties:
        return {key: in_go_order(value[key], schema.additional) for key in sorted(value)}
    known = [name for name in schema.properties if name in value]
    unknown = [name for name in value if name not in schema.properties]
    return {
        name: in_go_order(value[name], schema.properties.get(name)) for name in (*known, *unknown)
    }


def _sorted(value: Any, _: Schema | None = None) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(each) for each in value]
    return value


def shown_after_merge(made: Object, patch: Any, schema: Schema | None) -> str:
    """Return ``made``, the result of applying the merge patch ``patch``, as text.

    ``schema`` is None for a custom resource.
    """
    write = in_go_order if schema is not None else _sorted
    return _text(_merged(made, patch, schema, write))


def _merged(made: Any, patch: Any, schema: Schema | None, write: _Write) -> Any:
    if not isinstance(made, dict) or not isinstance(patch, dict):
        return _sorted(made)
    return {
        name: _merged(made[name], patch[name], _below(schema, name), write)
        if name in patch
        else write(made[name], _below(schema, name))
        for name in sorted(made)
    }


def shown_after_operations(made: Object, patch: Any, schema: Schema | None) -> str:
    """Return ``made``, the result of applying the JSON patch ``patch``, as text.

    ``schema`` is None for a custom resource.
    """
    through: set[_Steps] = {()}
    given: set[_Steps] = set()
    for operation in patch or ():
        for name in ("path", "from"):
            steps = _steps(operation.get(name))
            through.update(steps[:length] for length in range(len(steps)))
        if "value" in operation:
            given.add(_steps(operation.get("path")))
    write = in_go_order if schema is not None else _sorted
    return _text(_operated(made, (), schema, write, through, given))


def _operated(
    made: Any,
    at: _Steps,
    schema: Schema | None,
    write: _Write,
    through: set[_Steps],
    given: set[_Steps],
) -> Any:
    if at not in through:
        return made if at in given else write(made, schema)
    if isinstance(made, list):
        items = schema.items if schema is not None else None
        return [
            _operated(each, (*at, str(index)), items, write, through, given)
            for index, each in enumerate(made)
        ]
    if not isinstance(made, dict):
        return made
    return {
        name: _operated(made[name], (*at, name), _below(schema, name), write, through, given)
        for name in sorted(made)
    }


def _steps(path: Any) -> _Steps:
    if not isinstance(path, str):
        return ()
    return tuple(each.replace("~1", "/").replace("~0", "~") for each in path.split("/")[1:])


def _below(schema: Schema | None, name: str) -> Schema | None:
    if schema is None:
        return None
    return schema.properties.get(name) or schema.additional or _NOTHING


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
