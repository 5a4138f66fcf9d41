"""The three ways to change part of an object, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias

from steersman.errors import BadValue

# JSON is valid YAML, and most server versions know apply only by this media type.
APPLY: Final = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True, repr=False)
class _ObjectPatch:
    body: Mapping[str, Any]

    def __repr__(self) -> str:
        # The values are not shown, because they may be a Secret's.
        return f"<{type(self).__name__} of {', '.join(self.body)}>"


class MergePatch(_ObjectPatch):
    """A JSON merge patch (RFC 7386): each value replaces a field, and ``None`` removes a field.

    A list is always replaced completely.
    """

    __slots__ = ()
    content_type: ClassVar[str] = "application/merge-patch+json"


class StrategicMergePatch(_ObjectPatch):
    """A strategic merge patch: the API server merges lists of built-in kinds by their keys.

    The server rejects this type of patch for custom resources.
    """

    __slots__ = ()
    content_type: ClassVar[str] = "application/strategic-merge-patch+json"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class JsonPatch:
    """A JSON patch (RFC 6902): a sequence of steps that either all succeed or have no effect.

    To have the patch rejected if the object has changed meanwhile, begin it with a ``test`` step
    for the value that was read.
    """

    content_type: ClassVar[str] = "application/json-patch+json"
    body: Sequence[Mapping[str, Any]]

    def __init__(self, *steps: Mapping[str, Any]) -> None:
        if not steps:
            raise BadValue(
                wanted="a JSON patch", value=steps, rule="it must contain at least one step"
            )
        object.__setattr__(self, "body", steps)

    def __repr__(self) -> str:
        steps = (f"{step.get('op')} {step.get('path')}" for step in self.body)
        return f"<JsonPatch {', '.join(steps)}>"

    @staticmethod
    def test(path: str, value: Any) -> Mapping[str, Any]:
        """Return a step that fails unless the field at ``path`` has the value ``value``."""
        return _step("test", path, value=value)

    @staticmethod
    def add(path: str, value: Any) -> Mapping[str, Any]:
        """Return a step that sets the field at ``path``, or inserts into a list.

        The index ``-``, as in ``/spec/ports/-``, is the end of the list.
        """
        return _step("add", path, value=value)

    @staticmethod
    def replace(path: str, value: Any) -> Mapping[str, Any]:
        """Return a step that replaces the field at ``path``, which must exist."""
        return _step("replace", path, value=value)

    @staticmethod
    def remove(path: str) -> Mapping[str, Any]:
        """Return a step that removes the field at ``path``, which must exist."""
        return _step("remove", path)

    @staticmethod
    def pointer(*steps: str | int) -> str:
        """Return the JSON pointer of ``steps``, as in ``pointer("metadata", "labels", "a/b")``.

        Special characters in ``steps`` are escaped.
        """
        return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


Patch: TypeAlias = MergePatch | StrategicMergePatch | JsonPatch


def _step(
    op: Literal["test", "add", "replace", "remove"], path: str, **rest: Any
) -> Mapping[str, Any]:
    if path and not path.startswith("/"):
        raise BadValue(
            wanted="a JSON pointer",
            value=path,
            rule="it must begin with /; JsonPatch.pointer creates one from its steps",
        )
    return {"op": op, "path": path, **rest}
