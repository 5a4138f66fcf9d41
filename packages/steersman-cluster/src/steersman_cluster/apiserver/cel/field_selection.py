"""The selection of values by field, key or index, and the escaping of field names."""

import re
from typing import Any, Final

from steersman_cluster.apiserver.cel.errors import NotEvaluated
from steersman_cluster.apiserver.cel.values import NONE, Broken, Optional, kind_of

RESERVED: Final = frozenset(
    [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_ESCAPED: Final = re.compile(r"__(underscores|dot|dash|slash|[a-z]+)__")
_ESCAPABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*\Z", re.ASCII)


def escaped(name: str) -> str | None:
    """Return the name of the property ``name`` in CEL expressions, or None if it has none."""
    if not _ESCAPABLE.match(name):
        return None
    if name in RESERVED:
        return f"__{name}__"
    return re.sub(r"__|[./-]", lambda found: _ESCAPES[found[0]], name)


def looked_up(name: str) -> str:
    """Return the property name for ``name``, the escaped name in CEL expressions."""
    if "__" not in name:
        return name
    if name.startswith("__") and name.endswith("__") and name[2:-2] in RESERVED:
        return name[2:-2]
    plain = {"underscores": "__", "dot": ".", "dash": "-", "slash": "/"}
    return _ESCAPED.sub(lambda found: plain.get(found[1], found[0]), name)


def selected(value: Any, key: Any) -> Any:
    """Return the value of ``value`` at ``key``.

    If ``value`` is an optional, the result is an optional, too.
    """
    if isinstance(value, Optional):
        return indexed(value, key, optional=True)
    if isinstance(value, dict):
        try:
            found = value[key]
        except KeyError:
            raise NotEvaluated(f"no such key: {key}") from None
        if type(found) is Broken:
            raise NotEvaluated(found.message)
        return found
    if isinstance(value, list):
        raise NotEvaluated("unsupported index type 'string' in list")
    raise NotEvaluated(f"no such key: {key}")


def present(value: Any, key: str) -> bool:
    if isinstance(value, Optional):
        return value.has_value and present(value.value, key)
    return isinstance(value, dict) and value.get(key) is not None


def indexed(value: Any, index: Any, *, optional: bool = False) -> Any:
    """Return the element of ``value`` at ``index``.

    If ``optional`` is true, the result is an optional, which is empty if there is no element.
    """
    if isinstance(value, Optional):
        return indexed(value.value, index, optional=True) if value.has_value else NONE
    try:
        found = _element(value, index)
    except LookupError as error:
        if optional:
            return NONE
        raise NotEvaluated(str(error.args[0])) from None
    if type(found) is Broken:
        raise NotEvaluated(found.message)
    return Optional(found) if optional else found


def _element(value: Any, index: Any) -> Any:
    if isinstance(value, dict):
        try:
            return value[index]
        except KeyError:
            raise LookupError(f"no such key: {_shown(index)}") from None
        except TypeError:
            raise NotEvaluated(f"unsupported key type: {kind_of(index)}") from None
    if isinstance(value, list):
        if isinstance(index, float) and index.is_integer():
            index = int(index)
        if isinstance(index, float):
            raise NotEvaluated(f"unsupported index value {index} in list")
        if not isinstance(index, int) or isinstance(index, bool):
            raise NotEvaluated(f"unsupported index type '{kind_of(index)}' in list")
        if not 0 <= index < len(value):
            raise LookupError(f"index out of bounds: {index}")
        return value[index]
    raise LookupError(f"no such key: {_shown(index)}")


def _shown(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)
