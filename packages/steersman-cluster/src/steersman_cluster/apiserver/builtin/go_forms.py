"""Objects in the form of kube-apiserver's internal Go types, which some error messages contain.

For example, the error about a change of a Pod contains the diff of two specs in the internal form:
every field, in the order of its type, with its Go name.
"""

from collections.abc import Mapping
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from steersman_cluster.apiserver.meta.object_meta import IN_ORDER
from steersman_cluster.apiserver.meta.strategy import Object

_FILE: Final = Path(__file__).parent / "go-forms-kubernetes-1.36.json"
# The form of an absent field, by the type after the colon in the file: nothing for a string, a star
# for a pointer, list or map of scalars, and otherwise the name of the type.
_ABSENT: Final[dict[str, Any]] = {"": "", "i": 0, "b": False, "q": "0", "*": None}
# Fields of the spec that are in the security context of kube-apiserver's internal type.
_OF_HOST: Final = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")


def go_form(type_name: str, value: Object) -> msgspec.Raw:
    """Return ``value`` as JSON with every field of its Go type, named and ordered as in Go."""
    return msgspec.Raw(msgspec.json.encode(_formed(type_name, value, _forms())))


@cache
def _forms() -> Mapping[str, str]:
    return msgspec.json.decode(_FILE.read_bytes(), type=dict[str, str])


def pod_spec_difference(old: Object, new: Object) -> str:
    """Return a unified diff of two Pod specs in kube-apiserver's internal form."""
    return go_difference("PodSpec", old, new)


def go_difference(type_name: str, old: Object, new: Object) -> str:
    """Return a unified diff of two values in kube-apiserver's internal form."""
    # The first two lines are the names of the files.
    return "".join(list(unified_diff(_lines(type_name, old), _lines(type_name, new)))[2:])


def _lines(type_name: str, value: Object) -> list[str]:
    text = msgspec.json.format(go_form(type_name, value), indent=1)
    return [f"{line}\n" for line in bytes(text).decode().split("\n")]


def _formed(type_name: str, value: Object, forms: Mapping[str, str]) -> Object:
    if type_name == "PodSpec":
        value = _with_host(value)
    formed: Object = {}
    for field in forms[type_name].split():
        name, _, type_ = field.partition(":")
        go_name, _, json_name = name.partition("=")
        given = value.get(json_name or go_name[:1].lower() + go_name[1:])
        if type_ == "inline":
            formed |= _metadata(given or {})
        else:
            formed[go_name] = _field(type_, given, forms)
    return formed


def _metadata(given: Object) -> Object:
    return {name: _sorted(given[name]) for name in IN_ORDER if given.get(name)}


def _with_host(spec: Object) -> Object:
    context = {**(spec.get("securityContext") or {})}
    context |= {name: spec[name] for name in _OF_HOST if name in spec}
    return {**spec, "securityContext": context}


def _field(type_: str, given: Any, forms: Mapping[str, str]) -> Any:
    name = type_.lstrip("*[]")
    if name not in forms:
        return _sorted(given) if given is not None else _ABSENT.get(type_)
    if given is None:
        return _formed(name, {}, forms) if name == type_ else None
    if type_.startswith("[]"):
        return [_formed(name, each, forms) for each in given]
    return _formed(name, given, forms)


def _sorted(value: Any) -> Any:
    """Sort the keys of maps as Go does, but put ``matchLabels`` of a selector first."""
    if isinstance(value, dict):
        order = sorted(value, key=lambda key: (key != "matchLabels", key))
        return {key: _sorted(value[key]) for key in order}
    return [*map(_sorted, value)] if isinstance(value, list) else value
