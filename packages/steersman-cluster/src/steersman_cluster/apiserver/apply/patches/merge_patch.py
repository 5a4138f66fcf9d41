"""JSON merge patch (RFC 7386), with kube-apiserver's treatment of nulls in new values."""

from typing import Any, Final

from steersman_cluster.apiserver.apply.patches.patch_errors import Object, only_an_object
from steersman_cluster.apiserver.meta.go_messages import cannot_unmarshal
from steersman_cluster.apiserver.meta.status_errors import bad_request

_PARTED: Final = (dict, list)  # values that can contain nulls; most values are of other types


def apply_merge_patch(obj: Object, patch: Any, *, lenient: bool = False) -> Object:
    """Return ``obj`` after the JSON merge patch ``patch``.

    Set ``lenient`` if the request's ``fieldValidation`` is ``Ignore``.
    """
    if isinstance(patch, dict):
        return _merged(obj, patch)
    if lenient and isinstance(patch, list):
        return only_an_object(without_nulls(patch))
    if lenient or patch is None:
        raise bad_request("Invalid JSON Patch")
    mistake = cannot_unmarshal(patch, "value of type map[string]interface {}")
    raise bad_request(f"error decoding patch: {mistake}")


def without_nulls(value: Any) -> Any:
    """Return a copy of ``value``, a value that a merge patch adds, without its null fields.

    In a merge patch, a null removes an existing field; a value that is being added has no existing
    fields. Nulls in a list are list elements, and are not removed.
    """
    if value.__class__ is dict:
        return {
            key: without_nulls(each) if each.__class__ in _PARTED else each
            for key, each in value.items()
            if each is not None
        }
    if value.__class__ is list:
        return [without_nulls(each) if each.__class__ in _PARTED else each for each in value]
    return value


def _merged(obj: Object, patch: Object) -> Object:
    merged = obj.copy()
    for key, wanted in patch.items():
        if wanted is None:
            merged.pop(key, None)
        elif not isinstance(found := merged.get(key), dict):
            merged[key] = without_nulls(wanted)
        else:
            merged[key] = _merged(found, wanted) if isinstance(wanted, dict) else wanted
    return merged
