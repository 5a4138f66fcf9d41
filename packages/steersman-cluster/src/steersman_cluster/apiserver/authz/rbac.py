"""RBAC authorization by the stored roles and bindings."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.strategy import Object, ObjectReader
from steersman_cluster.apiserver.meta.users import (
    ADMINISTRATORS,
    NODES,
    User,
    account_user,
    node_of,
)
from steersman_cluster.apiserver.request.request_info import RequestInfo
from steersman_cluster.apiserver.request.selectors import selected_name

GROUP = "rbac.authorization.k8s.io"
CLUSTER_ROLES = GroupResource(GROUP, "clusterroles")
CLUSTER_BINDINGS = GroupResource(GROUP, "clusterrolebindings")
ROLES = GroupResource(GROUP, "roles")
BINDINGS = GroupResource(GROUP, "rolebindings")

# The values of --authorization-mode. The mode Node grants only the role system:node here.
ALWAYS_ALLOW = "AlwaysAllow"
NODE = "Node"
RBAC_MODE = "RBAC"
_NODE_ROLE = "system:node"
_EVERYTHING: tuple[dict[str, Any], ...] = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)

# The size of the cache of users' grants; a guess at how many users are active at a time.
_CACHED_USERS = 1000


class Attributes(msgspec.Struct, frozen=True, kw_only=True):
    """The action to authorize: ``verb`` on a resource, or on the non-resource path ``path``."""

    verb: str
    path: str | None = None
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def full_resource(self) -> str:
        """The resource with its subresource, as RBAC rules name it: ``pods/log``."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def attributes_of(info: RequestInfo) -> Attributes:
    """Return the action to authorize for a request."""
    if not info.resource:
        return Attributes(verb=info.verb, path=info.path)
    name = info.name
    if not name and info.verb in ("list", "watch"):
        # A rule with a resource name also allows list and watch with that name as field selector.
        name = selected_name(info.option("fieldSelector"))
    return Attributes(
        verb=info.verb,
        group=info.group,
        resource=info.resource,
        subresource=info.subresource,
        namespace=info.namespace,
        name=name,
    )


class Decision(NamedTuple):
    """An authorization decision and its reason."""

    allowed: bool
    reason: str = ""


class EffectiveRules(NamedTuple):
    """The RBAC rules that apply to a user.

    ``missing`` contains the roles that bindings name but that do not exist; the rules are
    incomplete without them.
    """

    rules: list[dict[str, Any]]
    missing: list["MissingRole"]

    @property
    def problem(self) -> str:
        """One error text about all missing roles."""
        return not_found(self.missing)


class MissingRole(NamedTuple):
    """A role that a binding references but that does not exist."""

    kind: str  # in lower case, as in messages
    name: str


class _Grant(NamedTuple):
    """The rules that a binding grants to a user, or the role that is missing."""

    reason: str
    rules: tuple["_Rule", ...] = ()
    missing: MissingRole | None = None

    def allows(self, wanted: Attributes) -> bool:
        return any(rule.allows(wanted) for rule in self.rules)


class _Rule:
    __slots__ = ("groups", "names", "paths", "resources", "verbs", "written")

    def __init__(self, written: dict[str, Any]) -> None:
        self.written = written
        self.verbs: frozenset[str] = frozenset(written.get("verbs") or ())
        self.groups: frozenset[str] = frozenset(written.get("apiGroups") or ())
        self.resources: frozenset[str] = frozenset(written.get("resources") or ())
        self.names: frozenset[str] = frozenset(written.get("resourceNames") or ())
        self.paths: tuple[str, ...] = tuple(written.get("nonResourceURLs") or ())

    def allows(self, wanted: Attributes) -> bool:
        if not _has(self.verbs, wanted.verb):
            return False
        if wanted.path is not None:
            return any(_covers(path, wanted.path) for path in self.paths)
        if not _has(self.groups, wanted.group):
            return False
        if self.names and wanted.name not in self.names:
            return False
        return _has(self.resources, wanted.full_resource) or (
            wanted.subresource != "" and f"*/{wanted.subresource}" in self.resources
        )


def _has(known: frozenset[str], wanted: str) -> bool:
    return wanted in known or "*" in known


def _covers(path: str, wanted: str) -> bool:
    return path == wanted or (path.endswith("*") and wanted.startswith(path.rstrip("*")))


class Authorizer:
    """An RBAC authorizer that caches results until a stored role or binding changes."""

    def __init__(self, store: ObjectReader, *, modes: tuple[str, ...] = (RBAC_MODE,)) -> None:
        self._store = store
        self._modes = frozenset(modes)
        self._seen = -1
        self._grants: dict[tuple[str, tuple[str, ...], str], tuple[_Grant, ...]] = {}

    def decide(self, user: User, wanted: Attributes) -> Decision:
        """Return the decision whether ``user`` has permission for the action ``wanted``."""
        if ADMINISTRATORS in user.groups:
            return Decision(True)
        missing: list[MissingRole] = []
        for grant in self._grants_of(user, wanted.namespace):
            if grant.allows(wanted):
                return Decision(True, grant.reason)
            if grant.missing:
                missing.append(grant.missing)
        return Decision(False, f"RBAC: {not_found(missing)}" if missing else "")

    def rules_for(self, user: User, namespace: str) -> EffectiveRules:
        """Return all rules that apply to ``user`` in ``namespace``, and the cluster-wide rules."""
        grants = list(self._grants_of(user, namespace))
        return EffectiveRules(
            [rule.written for grant in grants for rule in grant.rules],
            [grant.missing for grant in grants if grant.missing],
        )

    def _grants_of(self, user: User, namespace: str) -> Iterator[_Grant]:
        yield from self._granted(user, "")
        if namespace:
            yield from self._granted(user, namespace)

    def _granted(self, user: User, namespace: str) -> tuple[_Grant, ...]:
        last = self._store.last_change(CLUSTER_ROLES, CLUSTER_BINDINGS, ROLES, BINDINGS)
        if last != self._seen:
            self._seen = last
            self._grants.clear()
        key = (user.name, user.groups, namespace)
        found = self._grants.get(key)
        if found is None:
            if len(self._grants) >= _CACHED_USERS:
                self._grants.clear()
            found = self._grants[key] = tuple(self._look_up(user, namespace))
        return found

    def _look_up(self, user: User, namespace: str) -> Iterator[_Grant]:
        """Yield what the RoleBindings in ``namespace`` grant to ``user``.

        If ``namespace`` is empty, yields what the ClusterRoleBindings grant.
        """
        if ALWAYS_ALLOW in self._modes:
            yield _Grant("", tuple(map(_Rule, _EVERYTHING)))
        if NODE in self._modes and not namespace and NODES in user.groups and node_of(user.name):
            role = self._store.find(CLUSTER_ROLES, "", _NODE_ROLE) or {}
            yield _Grant("", tuple(map(_Rule, role.get("rules") or ())))
        for binding in self._bindings(namespace) if RBAC_MODE in self._modes else ():
            subject = next(
                (
                    each
                    for each in binding.get("subjects") or ()
                    if _is(each, user, namespace=binding["metadata"].get("namespace", ""))
                ),
                None,
            )
            if subject is None:
                continue
            role = binding["roleRef"]
            reason = _reason(binding, role, subject)
            found = self.role(role, namespace)
            if found is None:
                yield _Grant(reason, missing=MissingRole(role["kind"].lower(), role["name"]))
            else:
                yield _Grant(reason, tuple(map(_Rule, found.get("rules") or ())))

    def _bindings(self, namespace: str) -> Iterable[Object]:
        if not namespace:
            return self._store.every(CLUSTER_BINDINGS)
        return self._store.every(BINDINGS, namespace=namespace)

    def role(self, role: dict[str, Any], namespace: str) -> Object | None:
        """Return the role to which ``role``, the ``roleRef`` of a binding, refers, or None.

        ``namespace`` is the binding's namespace; it is empty for a ClusterRoleBinding.
        """
        if role["kind"] == "ClusterRole":
            return self._store.find(CLUSTER_ROLES, "", role["name"])
        return self._store.find(ROLES, namespace, role["name"])


def not_found(missing: Iterable[MissingRole]) -> str:
    """Return one error text about all roles in ``missing``, without duplicates.

    Several errors are enclosed in brackets.
    """
    sentences = list(
        dict.fromkeys(f'{each.kind}.{GROUP} "{each.name}" not found' for each in missing)
    )
    return f"[{', '.join(sentences)}]" if len(sentences) > 1 else "".join(sentences)


def _is(subject: dict[str, Any], user: User, *, namespace: str) -> bool:
    match subject["kind"]:
        case "User":
            return bool(subject["name"] == user.name)
        case "Group":
            return subject["name"] in user.groups
        case "ServiceAccount":
            place = subject.get("namespace") or namespace
            return place != "" and user.name == account_user(place, subject["name"])
        case _:
            return False


def _reason(binding: Object, role: dict[str, Any], subject: dict[str, Any]) -> str:
    about, who = binding["metadata"], subject["name"]
    place = about.get("namespace", "")
    name = f"{about['name']}/{place}" if place else about["name"]
    if subject["kind"] == "ServiceAccount":
        who = f"{who}/{subject.get('namespace') or place}"
    return (
        f'RBAC: allowed by {binding["kind"]} "{name}" of {role["kind"]} "{role["name"]}"'
        f' to {subject["kind"]} "{who}"'
    )
