"""JSON patch (RFC 6902), with the leniencies of kube-apiserver's JSON patch library."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from steersman_cluster.apiserver.apply.patches.patch_errors import (
    Object,
    only_an_object,
    unprocessable,
)
from steersman_cluster.apiserver.meta.go_messages import cannot_unmarshal
from steersman_cluster.apiserver.meta.status_errors import bad_request, too_large

MAX_OPERATIONS = 10_000

# The limit of the copies of one patch, in bytes of JSON: copies of copies grow exponentially.
MAX_COPIED_BYTES = 3 * 1024 * 1024

_TEXT_FIELDS = ("op", "path", "from")
_FIELDS = (*_TEXT_FIELDS, "value")

# 18 digits are enough for every list; Python rejects numbers with thousands of digits.
_INDEX = re.compile(r"[+-]?[0-9]{1,18}")


def apply_json_patch(obj: Object, patch: Any, *, lenient: bool = False) -> Object:
    """Return ``obj`` after all operations of the JSON patch ``patch``.

    Set ``lenient`` if the request's ``fieldValidation`` is ``Ignore``.
    """
    operations = _operations(patch, lenient=lenient)
    document = _Document(obj)
    for operation in operations:
        document.apply(operation)
    return only_an_object(document.root)


def json_patch_mistakes(patch: Any, repeated: Sequence[str] = ()) -> list[str]:
    """Return the errors that strict field validation finds in the JSON patch itself.

    ``repeated`` contains the errors for duplicate fields in the patch.
    """
    operations: list[Any] = patch if isinstance(patch, list) else []
    unknown = [
        f'unknown field "[{index}].{name}"'
        for index, operation in enumerate(operations)
        for name in (operation if isinstance(operation, dict) else ())
        if name not in _FIELDS
    ]
    return [f"json patch {each}" for each in (*repeated, *unknown)]


def _operations(patch: Any, *, lenient: bool) -> list[Object]:
    if (mistake := next(_mismatches(patch, lenient=lenient), None)) is not None:
        raise bad_request(mistake if lenient else f"error decoding patch: {mistake}")
    operations = [operation or {} for operation in patch or ()]
    if len(operations) > MAX_OPERATIONS:
        raise too_large(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS},"
            f" got {len(operations)}"
        )
    return operations


def _mismatches(patch: Any, *, lenient: bool) -> Iterator[str]:
    if patch is None:
        return
    if not isinstance(patch, list):
        whole = "jsonpatch.Patch" if lenient else "[]handlers.jsonPatchOp"
        yield cannot_unmarshal(patch, f"value of type {whole}")
        return
    for operation in patch:
        if isinstance(operation, dict):
            for name, found in operation.items() if not lenient else ():
                if name in _TEXT_FIELDS and not isinstance(found, str | None):
                    yield cannot_unmarshal(found, f"struct field jsonPatchOp.{name} of type string")
        elif operation is not None:
            single = "jsonpatch.Operation" if lenient else "handlers.jsonPatchOp"
            yield cannot_unmarshal(operation, f"value of type {single}")


class _Document:
    """A document being patched: parts shared with the original are copied before a change."""

    def __init__(self, root: Any) -> None:
        self.root = root
        # Containers that only this document references, by id; a reference keeps the id unique.
        self._own: dict[int, Any] = {}
        self._copied_bytes = 0

    def apply(self, operation: Object) -> None:
        path = _text(operation, "path")
        match operation.get("op"):
            case "add":
                self._add(path, operation.get("value"))
            case "remove":
                self._remove(path)
            case "replace":
                self._replace(path, operation)
            case "move":
                self._add(path, self._remove(_text(operation, "from")))
            case "copy":
                self._copy(_text(operation, "from"), path)
            case "test":
                self._test(path, operation.get("value"))
            case _:
                raise unprocessable()

    def _add(self, path: str, value: Any) -> None:
        container, key = self._writable(path)
        if isinstance(container, dict):
            container[key] = value
        elif key == "-":
            container.append(value)
        else:
            container.insert(_index(key, len(container) + 1), value)

    def _remove(self, path: str) -> Any:
        container, key = self._writable(path)
        if isinstance(container, list):
            return container.pop(_index(key, len(container)))
        if key not in container:
            raise unprocessable()
        return container.pop(key)

    def _replace(self, path: str, operation: Object) -> None:
        if path == "":
            if not isinstance(operation.get("value"), dict | list):
                raise unprocessable()
            self.root = operation["value"]
            return
        container, key = self._writable(path)
        # kube-apiserver accepts a missing key and rejects a missing index.
        at: Any = _index(key, len(container)) if isinstance(container, list) else key
        container[at] = operation.get("value")

    def _copy(self, origin: str, path: str) -> None:
        container, key = self._found(origin)
        value = _child(container, key)
        self._copied_bytes += len(msgspec.json.encode(value))
        if self._copied_bytes > MAX_COPIED_BYTES:
            raise unprocessable()
        self._add(path, value)
        # The value is shared by two paths now, so both must copy it before a change.
        self._own.clear()

    def _test(self, path: str, wanted: Any) -> None:
        found = self.root if path == "" else _child(*self._found(path))
        # Compared as text: in Python, true, 1 and 1.0 are equal.
        if _canonical(found) != _canonical(wanted):
            raise unprocessable()

    def _found(self, path: str) -> tuple[Any, str]:
        """Return the container that ``path`` leads into, for reading only, and the last step."""
        *steps, last = _steps(path)
        container = self.root
        for step in steps:
            container = _child(container, step)
        return _container(container), last

    def _writable(self, path: str) -> tuple[Any, str]:
        """Return the container that ``path`` leads into, for writing, and the last step."""
        *steps, last = _steps(path)
        container = self.root = self._owned(self.root)
        for step in steps:
            at: Any = _index(step, len(container)) if isinstance(container, list) else step
            child = self._owned(_child(container, step))
            container[at] = child
            container = child
        return container, last

    def _owned(self, container: Any) -> Any:
        if id(container) in self._own:
            return container
        copy = _container(container).copy()
        self._own[id(copy)] = copy
        return copy


def _text(operation: Object, name: str) -> str:
    if isinstance(text := operation.get(name), str):
        return text
    raise unprocessable()


def _steps(path: str) -> list[str]:
    # kube-apiserver ignores the text before the first slash.
    steps = path.split("/")[1:]
    if not steps:
        raise unprocessable()
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]


def _container(value: Any) -> Any:
    if isinstance(value, dict | list):
        return value
    raise unprocessable()


def _child(container: Any, step: str) -> Any:
    """Return the child at ``step``; None for a missing field of an object."""
    if isinstance(container, dict):
        return container.get(step)
    if isinstance(container, list):
        return container[_index(step, len(container))]
    raise unprocessable()


def _index(step: str, length: int) -> int:
    """Return the list index of a path step; -1 is the last index."""
    if _INDEX.fullmatch(step) is None or not -length <= (index := int(step)) < length:
        raise unprocessable()
    return index % length


def _canonical(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")
