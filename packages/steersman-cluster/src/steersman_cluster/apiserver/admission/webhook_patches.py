"""JSON patches of webhooks, with error messages worded as in kube-apiserver."""

from typing import Any

import msgspec

from steersman_cluster.apiserver.apply.patches import apply_json_patch
from steersman_cluster.apiserver.meta import go_json
from steersman_cluster.apiserver.meta.go_messages import cannot_unmarshal
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.schema.depth import EXCEEDED, MAX_DEPTH, is_deep

_MISSING = "missing value"
# The messages of the Go library for a missing path; it does not always quote the path.
_MISSING_PATH = {
    "add": 'add operation does not apply: doc is missing path: "{}": missing value',
    "remove": 'remove operation does not apply: doc is missing path: "{}": missing value',
    "replace": "replace operation does not apply: doc is missing path: {}: missing value",
    "test": "test operation does not apply: is missing path: {}: missing value",
}
_NO_ORIGIN = "{} operation does not apply: doc is missing from path: {}: missing value"
_NO_TARGET = "{} operation does not apply: doc is missing destination path: {}: missing value"


class PatchDecodeError(Exception):
    """The data is not a JSON patch."""


class PatchFailed(Exception):
    """A JSON patch cannot be applied to the object."""


def operations_of(patch: bytes) -> list[Object]:
    """Return the operations of the JSON patch ``patch``.

    Raises ``PatchDecodeError`` if ``patch`` is not a JSON patch.
    """
    try:
        operations: Any = msgspec.json.decode(patch)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise PatchDecodeError(_syntax_error(patch)) from None
    except RecursionError:
        raise PatchDecodeError(EXCEEDED) from None
    # The value of an operation is two levels below the top.
    if is_deep(operations, max_depth=MAX_DEPTH + 2):
        raise PatchDecodeError(EXCEEDED)
    if operations is None:
        return []
    if not isinstance(operations, list):
        raise PatchDecodeError(cannot_unmarshal(operations, "value of type jsonpatch.Patch"))
    for each in operations:
        if not isinstance(each, dict | None):
            raise PatchDecodeError(cannot_unmarshal(each, "value of type jsonpatch.Operation"))
    return [each or {} for each in operations]


def _syntax_error(patch: bytes) -> str:
    try:
        go_json.check_syntax(patch)
    except go_json.BadSyntax as problem:
        return str(problem)
    return "invalid UTF-8"


def patched(obj: Object, operations: list[Object]) -> Any:
    """Return ``obj`` after all ``operations``; raise ``PatchFailed`` if one cannot be applied."""
    try:
        made = apply_json_patch(obj, operations, lenient=True)
    except StatusError:
        pass
    else:
        # Each operation can add a level.
        if is_deep(made):
            raise PatchFailed(EXCEEDED)
        return made
    for operation in operations:
        why = _why_not(obj, operation)
        try:
            obj = apply_json_patch(obj, [operation], lenient=True)
        except StatusError:
            raise PatchFailed(why) from None
    raise PatchFailed("the patch does not apply")


def _why_not(doc: Any, operation: Object) -> str:
    """Return the library's error message for an operation that does not apply."""
    kind, path = operation.get("op"), operation.get("path")
    if kind in ("move", "copy"):
        return _why_not_moved(doc, kind, operation)
    if kind not in _MISSING_PATH:
        return f"Unexpected kind: {kind if isinstance(kind, str) else 'unknown'}"
    if not isinstance(path, str):
        inner = "" if kind in ("add", "remove") else "operation missing path field: "
        return f"{kind} operation failed to decode path: {inner}{_MISSING}"
    if path == "" and kind == "replace":
        return "replace operation value must be object or array: %!w(<nil>)"
    container, key = _found(doc, path)
    if container is None and path:
        return _MISSING_PATH[kind].format(path)
    if kind == "test":
        if isinstance(container, list) and (why := _index_problem(container, key)):
            return f"error in test for path: '{path}': {why}"
        return f"testing value {path} failed: test failed"
    if kind == "replace" and isinstance(container, list):
        return f"replace operation does not apply: doc is missing key: {path}: {_MISSING}"
    if isinstance(container, dict):
        why = f"Unable to remove nonexistent key: {key}: {_MISSING}"
    else:
        why = _index_problem(container or [], key, adding=kind == "add")
    return f"error in {kind} for path: '{path}': {why}"


def _why_not_moved(doc: Any, kind: str, operation: Object) -> str:
    origin, path = operation.get("from"), operation.get("path")
    if not isinstance(origin, str):
        return f"{kind} operation failed to decode from: operation, missing from field: {_MISSING}"
    container, key = _found(doc, origin)
    if container is None:
        return _NO_ORIGIN.format(kind, origin)
    if isinstance(container, list) and (why := _index_problem(container, key)):
        about = f"move for path: '{key}'" if kind == "move" else f"copy for from: '{origin}'"
        return f"error in {about}: {why}"
    if kind == "move" and isinstance(container, dict) and key not in container:
        why = f"Unable to remove nonexistent key: {key}: {_MISSING}"
        return f"error in move for path: '{key}': {why}"
    if not isinstance(path, str):
        inner = "" if kind == "copy" else "operation missing path field: "
        return f"{kind} operation failed to decode path: {inner}{_MISSING}"
    target, last = _found(doc, path)
    if target is None:
        return _NO_TARGET.format(kind, path)
    why = _index_problem(target, last, adding=True) if isinstance(target, list) else ""
    if kind == "move":
        return f"error in move for path: '{path}': {why}"
    return f"error while adding value during copy: {why}"


def _found(doc: Any, path: str) -> tuple[Any, str]:
    """Return the container that ``path`` leads into and the last step; None if it is missing."""
    steps = [each.replace("~1", "/").replace("~0", "~") for each in path.split("/")]
    for step in steps[1:-1]:
        if isinstance(doc, dict):
            doc = doc.get(step)
        elif isinstance(doc, list) and not _index_problem(doc, step):
            doc = doc[int(step)]
        else:
            return None, ""
    is_container = isinstance(doc, dict | list) and len(steps) > 1
    return (doc if is_container else None), steps[-1]


def _index_problem(elements: list[Any], step: str, *, adding: bool = False) -> str:
    """Return the Go library's error message for an invalid list index, else an empty text."""
    length = len(elements) + 1 if adding else len(elements)
    try:
        index = int(step)
    except ValueError:
        why = f'strconv.Atoi: parsing "{step}": invalid syntax'
        return f"value was not a proper array index: '{step}': {why}" if adding else why
    if -length <= index < length:
        return ""
    return f"Unable to access invalid index: {index}: invalid index referenced"
