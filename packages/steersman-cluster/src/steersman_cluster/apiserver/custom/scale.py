"""The scale subresource: the desired and the current number of replicas of an object."""

from typing import Any, Final

from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid
from steersman_cluster.apiserver.meta.go_messages import go_text, go_type
from steersman_cluster.apiserver.meta.status_errors import StatusError, bad_request, internal_error
from steersman_cluster.apiserver.meta.status_errors import invalid as invalid_object
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.request.resources import ScalePaths

# The paths in Deployments, ReplicaSets, StatefulSets and ReplicationControllers.
BUILTIN_SCALE: Final = ScalePaths(
    spec_replicas=("spec", "replicas"),
    status_replicas=("status", "replicas"),
    selector=("spec", "selector"),
)

# The replicas of a Scale for an object without the field. A patch that keeps this value is
# rejected.
NOT_SAID: Final = -(1 << 31)

_MAX_REPLICAS: Final = (1 << 31) - 1
_OPERATORS: Final = {"In": "in", "NotIn": "notin"}


class WrongType(Exception):
    """The value at a path, or at the start of the path, has the wrong type."""


def scale_of(obj: Object, paths: ScalePaths, *, to_patch: bool = False) -> Object:
    """Return the Scale of ``obj``, with its replicas at ``paths``.

    Raises an error if ``obj`` has no replicas field, unless ``to_patch`` is true.
    """
    try:
        replicas = found(obj, paths.spec_replicas, int)
        counted = found(obj, paths.status_replicas, int) or 0
    except WrongType as error:
        raise internal_error(str(error)) from None
    if replicas is None:
        if not to_patch:
            field = ".".join(("", *paths.spec_replicas))
            raise internal_error(f'the spec replicas field "{field}" does not exist')
        replicas = NOT_SAID
    metadata = obj["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Object = {"replicas": counted}
    if selector := _selector(obj, paths):
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: metadata[key] for key in kept if key in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def with_replicas(obj: Object, scale: Object, paths: ScalePaths) -> Object:
    """Return ``obj`` with the desired replicas of ``scale``, at the path in ``paths``.

    Unchanged parts are shared with ``obj``.
    """
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    if replicas == NOT_SAID:
        field = ".".join(("", *paths.spec_replicas))
        raise bad_request(f'the spec replicas field "{field}" cannot be empty')
    if paths == BUILTIN_SCALE and replicas < 0:
        raise _negative(scale, replicas)
    fresh = _with(obj, paths.spec_replicas, replicas)
    if version := scale["metadata"].get("resourceVersion"):
        fresh["metadata"] = {**fresh["metadata"], "resourceVersion": version}
    return fresh


def _negative(scale: Object, replicas: int) -> StatusError:
    error = invalid("spec.replicas", replicas, "must be greater than or equal to 0")
    return invalid_object("Scale.autoscaling", scale["metadata"].get("name", ""), [error])


def _with(obj: Object, path: tuple[str, ...], value: Any) -> Object:
    first, *rest = path
    return {**obj, first: _with(obj.get(first) or {}, tuple(rest), value) if rest else value}


def replicas_errors(obj: Object, path: tuple[str, ...]) -> list[FieldError]:
    """Return the errors of a custom resource's replicas field, which is at ``path``."""
    field = ".".join(("", *path))
    try:
        replicas = found(obj, path, int) or 0
    except WrongType as error:
        return [invalid(field, 0, str(error))]
    if replicas < 0:
        return [invalid(field, replicas, "should be a non-negative integer")]
    if replicas > _MAX_REPLICAS:
        why = f"should be less than or equal to {_MAX_REPLICAS}"
        return [invalid(field, replicas, why)]
    return []


def selector_errors(obj: Object, path: tuple[str, ...]) -> list[FieldError]:
    """Return the errors of a custom resource's selector field, which is at ``path``."""
    try:
        found(obj, path, str)
    except WrongType as error:
        return [invalid(".".join(("", *path)), "", str(error))]
    return []


def found(obj: Object, path: tuple[str, ...], wanted: type) -> Any:
    """Return the value of ``obj`` at ``path``, or None if it is missing.

    Raises ``WrongType`` if the value does not have the type ``wanted``.
    """
    value: Any = obj
    for depth, key in enumerate(path):
        if value is None:
            return None
        if not isinstance(value, dict):
            raise _wrong_type(path[: depth + 1], value, "map[string]interface{}")
        if key not in value:
            return None
        value = value[key]
    if type(value) is not wanted:
        raise _wrong_type(path, value, "int64" if wanted is int else "string")
    return value


def _wrong_type(path: tuple[str, ...], value: Any, wanted: str) -> WrongType:
    kind = "<nil>" if value is None else go_type(value)
    field = ".".join(("", *path))
    return WrongType(
        f"{field} accessor error: {go_text(value)} is of the type {kind}, expected {wanted}"
    )


def _selector(obj: Object, paths: ScalePaths) -> str:
    if paths.selector is None:
        return ""
    value: Any = obj
    for key in paths.selector:
        value = value.get(key) if isinstance(value, dict) else None
    return selector_text(value) if isinstance(value, dict) else value or ""


def selector_text(selector: Object) -> str:
    """Return a label selector, or a map of labels, as text: ``app=web,tier in (a,b)``."""
    said = selector.keys() & {"matchLabels", "matchExpressions"}
    labels = (selector.get("matchLabels") or {}) if said else selector
    terms = [(key, f"{key}={value}") for key, value in labels.items()]
    for each in (selector.get("matchExpressions") or ()) if said else ():
        key, operator = each["key"], each["operator"]
        values = ",".join(sorted(each.get("values") or ()))
        if operator in _OPERATORS:
            terms.append((key, f"{key} {_OPERATORS[operator]} ({values})"))
        else:
            terms.append((key, key if operator == "Exists" else f"!{key}"))
    return ",".join(text for _, text in sorted(terms, key=lambda term: term[0]))
