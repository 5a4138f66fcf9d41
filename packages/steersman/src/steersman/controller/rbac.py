"""The RBAC rules that an operator needs, derived from the declarations of its controllers.

- Own kind: read it, patch its status, and patch it if there is a ``finalize`` function. With owned
  or written kinds also update its finalizers: the admission plugin
  OwnerReferencesPermissionEnforcement requires that for an owner reference that blocks deletion.
- ``owns``: read, and the verbs of each ``Owns``, by default ``create`` and ``patch`` for apply.
- ``watches``: read. ``reads``: get and list; with ``Scale`` among them, the ``scale`` of any kind.
- ``writes``: the verbs of each ``Writes``, with its names. ``patch`` includes ``get``, because
  after a rejected patch steersman compares the patch with the object on the server.
- ``Runnable``: the kinds that it watches, reads and writes, in the same way.
- The lease, and events about all these objects. The permissions for events are optional.

``DeclaredAccess`` allows the same operations: change both modules together.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec
from msgspec.structs import replace

from steersman.cache import CacheOptions
from steersman.controller.controller import Controller
from steersman.controller.declaration.writes import Kind, Writes
from steersman.kinds import Unstructured
from steersman.names import GroupVersionKind

if TYPE_CHECKING:
    from steersman.kinds import rbac_v1

_VERBS: Final = (
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
)
_READ_VERBS: Final = ("get", "list")
_WATCH_VERBS: Final = (*_READ_VERBS, "watch")

_SCALE: Final = GroupVersionKind("autoscaling", "v1", "Scale")

# Strings that every YAML parser reads as a string without quotes.
_BARE: Final = re.compile(r"[a-z][a-z0-9./-]*")
_NOT_BARE: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


class RbacRule(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """A permission: verbs on one resource, in one or all namespaces, for some or all names.

    If a rule with ``is_needed=False`` is not granted, the operator works, but lacks a feature.
    """

    namespace: str | None = None
    group: str
    resource: str
    subresource: str = ""
    names: tuple[str, ...] = ()
    verbs: tuple[str, ...]
    is_needed: bool = True

    @property
    def path(self) -> str:
        """The resource as Roles name it: ``deployments``, or ``deployments/status``."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    @property
    def yaml(self) -> str:
        """Return the rule as one line of YAML, an item of the ``rules`` of a Role."""
        (policy,) = policy_rules((self,))
        fields = ", ".join(f"{key}: {_listed(values)}" for key, values in _policy_fields(policy))
        return f"- {{{fields}}}"

    def __str__(self) -> str:
        group = f".{self.group}" if self.group else ""
        sub = f"/{self.subresource}" if self.subresource else ""
        named = f" {', '.join(self.names)}" if self.names else ""
        where = f"in namespace {self.namespace}" if self.namespace else "in the whole cluster"
        return f"{', '.join(self.verbs)} {self.resource}{group}{sub}{named} {where}"


_ANY_SCALE: Final = RbacRule(group="*", resource="*", subresource="scale", verbs=("get",))


class DeclaresAccess(Protocol):
    """A protocol for objects, such as runnables, that declare kinds to watch, read and write."""

    @property
    def watches(self) -> tuple[Kind, ...]:
        """The kinds to list and watch."""
        ...

    @property
    def reads(self) -> tuple[Kind, ...]:
        """The kinds to get and list on the API server."""
        ...

    @property
    def written(self) -> tuple[Writes, ...]:
        """The kinds to write."""
        ...


def permissions(
    controllers: Iterable[Controller[Any]],
    *,
    lease: tuple[str, str] | None,
    namespaces: Sequence[str],
    runnables: Iterable[DeclaresAccess] = (),
    caches: Iterable[CacheOptions[Any]] = (),
) -> tuple[RbacRule, ...]:
    """Return all RBAC rules that ``controllers`` and ``runnables`` need in ``namespaces``.

    If ``namespaces`` is empty, the rules are for all namespaces. ``caches`` may define other
    namespaces for some kinds. ``lease`` is the namespace and name of the lease for leader election;
    ``None`` without leader election.
    """
    wanted: list[RbacRule] = []
    apart: dict[tuple[str, str], Sequence[str]] = {
        (each.kind.resource_type.gvk.group, each.kind.resource_type.plural): each.namespaces
        for each in caches
        if each.namespaces is not None
    }

    def want(rules: Iterable[tuple[RbacRule, bool]]) -> None:
        for rule, is_namespaced in rules:
            where = apart.get((rule.group, rule.resource), namespaces)
            places = where if is_namespaced and where else (None,)
            wanted.extend(replace(rule, namespace=place) for place in places)

    for controller in controllers:
        want(_controller_rules(controller))
        own = controller.kind.resource_type
        where = apart.get((own.gvk.group, own.plural), namespaces)
        wanted += _event_rules(controller, where)
    for runnable in runnables:
        want(_rule(kind, *_WATCH_VERBS) for kind in runnable.watches)
        want(_read_rules(runnable.reads))
        want(_write_rules(runnable.written))
    if lease is not None:
        wanted += _lease_rules(*lease)
    return _merged(wanted)


def rules_by_namespace(rules: Iterable[RbacRule]) -> dict[str | None, tuple[RbacRule, ...]]:
    """Return ``rules``, grouped by namespace: one group for each Role.

    The key ``None`` contains the rules of the ClusterRole.
    """
    found: dict[str | None, tuple[RbacRule, ...]] = {}
    for rule in rules:
        found[rule.namespace] = (*found.get(rule.namespace, ()), rule)
    return found


def policy_rules(rules: Iterable[RbacRule]) -> "tuple[rbac_v1.PolicyRule, ...]":
    """Return the policy rules with which a Role or ClusterRole grants all of ``rules``.

    The namespaces of ``rules`` are ignored.
    """
    # Imported here, because an operator that has its permissions never prints them.
    from steersman.kinds import rbac_v1

    resources: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for rule in _merged(replace(each, namespace=None) for each in rules):
        resources.setdefault((rule.group, rule.verbs, rule.names), []).append(rule.path)
    return tuple(
        rbac_v1.PolicyRule(
            api_groups=(group,),
            resources=tuple(paths),
            verbs=verbs,
            resource_names=names or None,
        )
        for (group, verbs, names), paths in resources.items()
    )


def rules_yaml(rules: Iterable[RbacRule]) -> str:
    """Return ``rules`` as YAML, to paste into the ``rules`` of a Role or ClusterRole."""
    lines = ["rules:"]
    for rule in policy_rules(rules):
        for number, (key, values) in enumerate(_policy_fields(rule)):
            lines.append(f"{'  ' if number else '- '}{key}: {_listed(values)}")
    return "\n".join(lines) + "\n"


def _controller_rules(controller: Controller[Any]) -> Iterator[tuple[RbacRule, bool]]:
    """Yield each rule for one controller, and whether the resource of the rule is namespaced."""
    own = controller.kind
    yield _rule(own, *_WATCH_VERBS)
    if _has_status(own):
        yield _rule(own, "patch", subresource="status")
    if controller.finalize is not None:
        yield _rule(own, "patch")
    if controller.owned or controller.writes:
        rule, is_namespaced = _rule(own, "update", subresource="finalizers")
        # Few clusters require this permission, and their error names it.
        yield replace(rule, is_needed=False), is_namespaced
    for owned in controller.owned:
        yield _rule(owned.kind, *_WATCH_VERBS, *owned.verbs)
    for watch in controller.watches:
        yield _rule(watch.kind, *_WATCH_VERBS)
    yield from _read_rules(controller.reads)
    yield from _write_rules(controller.written)


def _read_rules(kinds: Iterable[Kind]) -> Iterator[tuple[RbacRule, bool]]:
    for kind in kinds:
        # A Scale is a subresource of objects of any kind.
        is_scale = kind.resource_type.gvk == _SCALE
        yield (_ANY_SCALE, True) if is_scale else _rule(kind, *_READ_VERBS)


def _write_rules(declared: Iterable[Writes]) -> Iterator[tuple[RbacRule, bool]]:
    for each in declared:
        verbs = tuple(each.verbs)
        if each.names and "create" in verbs:
            # Without names: RBAC cannot limit create by name.
            yield _rule(each.kind, "create", subresource=each.subresource)
            verbs = tuple(verb for verb in verbs if verb != "create")
        if verbs:
            yield _rule(each.kind, *verbs, subresource=each.subresource, names=each.names)
        if "patch" in verbs:
            yield _rule(each.kind, "get", names=each.names)


def _rule(
    kind: Kind, *verbs: str, subresource: str = "", names: tuple[str, ...] = ()
) -> tuple[RbacRule, bool]:
    where = kind.resource_type
    rule = RbacRule(
        group=where.gvk.group,
        resource=where.plural,
        subresource=subresource,
        names=names,
        verbs=tuple(verbs),
    )
    return rule, where.namespaced


def _has_status(kind: Kind) -> bool:
    return issubclass(kind, Unstructured) or hasattr(kind, "status")


def _event_rules(controller: Controller[Any], namespaces: Sequence[str]) -> Iterator[RbacRule]:
    places: list[str | None] = [*namespaces] or [None]
    if namespaces and not all(each.resource_type.namespaced for each in controller.cached_kinds):
        places.append("default")  # the namespace of events about cluster-scoped objects
    for place in places:
        yield RbacRule(
            group="" if controller.event_source else "events.k8s.io",
            resource="events",
            verbs=("create", "patch"),
            namespace=place,
            is_needed=False,
        )


def _lease_rules(namespace: str, name: str) -> Iterator[RbacRule]:
    lease = RbacRule(
        group="coordination.k8s.io", resource="leases", namespace=namespace, verbs=("create",)
    )
    yield lease  # without a name: RBAC cannot limit create by name
    yield replace(lease, verbs=("get", "patch"), names=(name,))


def _merged(rules: Iterable[RbacRule]) -> tuple[RbacRule, ...]:
    """Return the same permissions, sorted and with the verbs of equal rules combined."""
    found: dict[RbacRule, tuple[set[str], bool]] = {}
    for rule in rules:
        place = replace(rule, verbs=(), is_needed=True)
        verbs, is_needed = found.get(place, (set(), False))
        found[place] = verbs | set(rule.verbs), is_needed or rule.is_needed
    merged = (
        replace(place, verbs=_in_order(verbs), is_needed=is_needed)
        for place, (verbs, is_needed) in found.items()
    )
    return tuple(sorted(merged, key=_sort_key))


def _sort_key(rule: RbacRule) -> tuple[str, ...]:
    return (rule.namespace or "", rule.group, rule.resource, rule.subresource, *rule.names)


def _in_order(verbs: Collection[str]) -> tuple[str, ...]:
    return tuple(verb for verb in _VERBS if verb in verbs)


def _policy_fields(rule: "rbac_v1.PolicyRule") -> Iterator[tuple[str, Sequence[str]]]:
    yield "apiGroups", rule.api_groups or ()
    yield "resources", rule.resources or ()
    if rule.resource_names:
        yield "resourceNames", rule.resource_names
    yield "verbs", rule.verbs


def _listed(values: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, values))}]"


def _quoted(value: str) -> str:
    is_bare = _BARE.fullmatch(value) is not None and value not in _NOT_BARE
    return value if is_bare else msgspec.json.encode(value).decode()
