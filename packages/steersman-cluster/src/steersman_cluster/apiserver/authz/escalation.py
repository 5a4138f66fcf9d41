"""Privilege escalation: users cannot grant permissions that they lack.

The check applies to writes of roles and bindings.

Users with permission for the verb ``escalate`` on a role, or ``bind`` on the role of a binding, are
exempt.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from steersman.names import GroupResource
from steersman_cluster.apiserver.authz.rbac import GROUP, Attributes, Authorizer, not_found
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.field_errors import shown
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.users import ADMINISTRATORS, User

_EVERYTHING = (
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
)
_PLURALS = {"ClusterRole": "clusterroles", "Role": "roles"}
# The metadata that the garbage collector may change in a role that grants more than it has.
_COLLECTED = frozenset(("finalizers", "managedFields", "ownerReferences"))


class Escalation:
    """Rejects a write of a role or binding that grants permissions which its writer lacks."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def is_about(self, group: str) -> bool:
        """Whether ``group`` is the API group of roles and bindings, to which the check applies."""
        return group == GROUP

    def check(self, user: User, wanted: Attributes, obj: Object, old: Object | None) -> None:
        """Raise an error if ``user`` escalates privileges by writing the role or binding ``obj``.

        ``wanted`` describes the write. ``old`` is the object that ``obj`` replaces, or None.
        """
        if ADMINISTRATORS in user.groups or (old is not None and _is_same(obj, old)):
            return
        ref = obj.get("roleRef")
        right = replace(wanted, verb="escalate") if ref is None else _right_to_bind(ref, wanted)
        if self._authorizer.decide(user, right).allowed:
            return
        role = obj if ref is None else self._referred(ref, wanted)
        gathers = _aggregates(obj) or (old is not None and _aggregates(old))
        if missing := self._missing(user, wanted.namespace, role.get("rules") or ()):
            why = self._attempt(user, wanted, missing)
        elif gathers and self._missing(user, "", _EVERYTHING):
            why = "must have cluster-admin privileges to use the aggregationRule"
        else:
            return
        name = obj["metadata"].get("name", "")
        raise status_errors.forbidden(GroupResource(wanted.group, wanted.resource), name, why)

    def _referred(self, ref: dict[str, Any], wanted: Attributes) -> Object:
        if ref.get("kind") == "Role" and not wanted.namespace:
            raise status_errors.bad_request("Namespace parameter required.")
        if not ref.get("name"):
            raise status_errors.bad_request("Name parameter required.")
        role = self._authorizer.role(ref, wanted.namespace)
        if role is None:
            # kube-apiserver reports the resource of the request instead of the role's.
            raise status_errors.not_found(GroupResource(GROUP, wanted.resource), ref["name"])
        return role

    def _attempt(self, user: User, wanted: Attributes, missing: list[str]) -> str:
        groups, rights = " ".join(map(shown, user.groups)), "\n".join(missing)
        what = "attempting to grant RBAC permissions not currently held"
        sentence = f'user "{user.name}" (groups=[{groups}]) is {what}:\n{rights}'
        lost = self._authorizer.rules_for(user, wanted.namespace).missing
        problem = not_found(each._replace(kind=wanted.resource) for each in lost)
        return f"{sentence}; resolution errors: [{problem}]" if problem else sentence

    def _missing(self, user: User, namespace: str, rules: Iterable[dict[str, Any]]) -> list[str]:
        """Return the permissions of ``rules`` that ``user`` lacks, formatted as text."""
        resources: dict[tuple[str, ...], list[str]] = {}
        paths: set[str] = set()
        for rule in rules:
            for right in _rights(rule, namespace):
                if self._authorizer.decide(user, right).allowed:
                    continue
                if right.path is not None:
                    paths.add(_rule_text(NonResourceURLs=[right.path], Verbs=[right.verb]))
                else:
                    about = (right.group, right.full_resource, right.name)
                    resources.setdefault(about, []).append(right.verb)
        texts = {
            _rule_text(
                APIGroups=[group],
                Resources=[resource],
                ResourceNames=[name] if name else [],
                Verbs=verbs,
            )
            for (group, resource, name), verbs in resources.items()
        }
        return sorted(texts | paths)


def _right_to_bind(ref: dict[str, Any], wanted: Attributes) -> Attributes:
    kind = ref.get("kind", "")
    if kind not in _PLURALS:
        raise StatusError(500, "", f"unsupported role reference kind: {shown(kind)}")
    return Attributes(
        verb="bind",
        group=ref.get("apiGroup", ""),
        resource=_PLURALS[kind],
        namespace=wanted.namespace,
        name=ref.get("name", ""),
    )


def _rights(rule: dict[str, Any], namespace: str) -> Iterator[Attributes]:
    """Yield each single permission that a rule grants."""
    for group in rule.get("apiGroups") or ():
        for resource in rule.get("resources") or ():
            plural, _, subresource = resource.partition("/")
            for verb in rule.get("verbs") or ():
                for name in rule.get("resourceNames") or ("",):
                    yield Attributes(
                        verb=verb,
                        group=group,
                        resource=plural,
                        subresource=subresource,
                        namespace=namespace,
                        name=name,
                    )
    for path in rule.get("nonResourceURLs") or ():
        for verb in rule.get("verbs") or ():
            yield Attributes(verb=verb, path=path, namespace=namespace)


def _rule_text(**parts: list[str]) -> str:
    listed = (f"{name}:[{' '.join(map(shown, each))}]" for name, each in parts.items() if each)
    return f"{{{', '.join(listed)}}}"


def _aggregates(role: Object) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _is_same(obj: Object, old: Object) -> bool:
    """Whether the objects are equal, except for fields that the garbage collector changes."""
    return _without_collected(obj) == _without_collected(old)


def _without_collected(obj: Object) -> Object:
    metadata = {key: each for key, each in obj["metadata"].items() if key not in _COLLECTED}
    return {**obj, "metadata": metadata}
