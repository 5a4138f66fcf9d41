"""The matching of requests to webhooks and policies: by rules and by label selectors.

The selectors apply to the object and to its namespace.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from steersman.names import GroupResource, GroupVersionKind, GroupVersionResource
from steersman_cluster.apiserver.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from steersman_cluster.apiserver.meta.status_errors import StatusError, not_found
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.request.selectors import NOTHING, Selector, label_selector

_NAMESPACES = GroupResource("", "namespaces")


class MatchedResource(NamedTuple):
    """The resource and kind under which a request matched a webhook or policy.

    They are those of the request, or an equivalent resource in another API version.
    """

    resource: GroupVersionResource
    kind: GroupVersionKind


class MatchContext(Protocol):
    """A protocol for the stored objects and the equivalent resources that matching requires."""

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        """Return the stored object ``name`` of ``resource``, or None."""
        ...

    def equivalents(
        self, resource: GroupVersionResource, subresource: str
    ) -> Iterable[MatchedResource]:
        """Return the resources that are equivalent to ``resource``.

        They serve the same objects in other API versions.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRule:
    """One match rule of a webhook or policy: the operations and the resources that it matches."""

    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: tuple[tuple[str, str], ...]  # pairs of resource and subresource
    scope: str
    names: frozenset[str]  # an empty set matches every name

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> "MatchRule":
        """Return the rule ``written``, an item of ``rules`` or ``resourceRules``."""
        split = [each.partition("/") for each in written.get("resources") or ()]
        return cls(
            operations=frozenset(written.get("operations") or ()),
            groups=frozenset(written.get("apiGroups") or ()),
            versions=frozenset(written.get("apiVersions") or ()),
            resources=tuple((resource, subresource) for resource, _, subresource in split),
            scope=written.get("scope") or "*",
            names=frozenset(written.get("resourceNames") or ()),
        )

    def matches(self, attributes: AdmissionAttributes, resource: GroupVersionResource) -> bool:
        """Whether the rule matches the request, treated as a request for ``resource``."""
        return (
            self._in_scope(attributes, resource)
            and _has(self.operations, attributes.operation)
            and _has(self.groups, resource.group)
            and _has(self.versions, resource.version)
            and any(
                each in ("*", resource.resource) and sub in ("*", attributes.subresource)
                for each, sub in self.resources
            )
            and (not self.names or attributes.name in self.names)
        )

    def _in_scope(self, attributes: AdmissionAttributes, resource: GroupVersionResource) -> bool:
        if self.scope == "*":
            return True
        is_namespace = (resource.group, resource.resource) == ("", "namespaces")
        is_namespaced = not is_namespace and attributes.namespace != ""
        return is_namespaced == (self.scope == "Namespaced")


def _has(known: frozenset[str], value: str) -> bool:
    return "*" in known or value in known


@dataclass(frozen=True, slots=True, kw_only=True)
class Matcher:
    """The match constraints of a webhook, policy or policy binding."""

    rules: tuple[MatchRule, ...]
    excluded: tuple[MatchRule, ...]
    takes_equivalents: bool
    matches_without_rules: bool  # whether an empty list of rules matches everything
    namespaces: Selector
    objects: Selector

    @classmethod
    def of_webhook(cls, written: Mapping[str, Any]) -> "Matcher":
        """Return the match constraints of ``written``, a webhook in a webhook configuration."""
        return cls._of(written, rules="rules", matches_without_rules=False)

    @classmethod
    def of_policy(cls, written: Mapping[str, Any]) -> "Matcher":
        """Return the match constraints ``written`` in a policy or in a policy binding."""
        return cls._of(written, rules="resourceRules", matches_without_rules=True)

    @classmethod
    def _of(
        cls, written: Mapping[str, Any], *, rules: str, matches_without_rules: bool
    ) -> "Matcher":
        return cls(
            rules=tuple(MatchRule.of(each) for each in written.get(rules) or ()),
            excluded=tuple(
                MatchRule.of(each) for each in written.get("excludeResourceRules") or ()
            ),
            takes_equivalents=written.get("matchPolicy") == "Equivalent",
            matches_without_rules=matches_without_rules,
            namespaces=_selector(written.get("namespaceSelector") or {}),
            objects=_selector(written.get("objectSelector") or {}),
        )

    def match(
        self, attributes: AdmissionAttributes, context: MatchContext
    ) -> MatchedResource | None:
        """Return the resource and kind under which the request matches, else None."""
        in_namespace = _is_in(self.namespaces, attributes, context)
        if in_namespace is False or not self._selects(attributes):
            return None
        if self._first_match(self.excluded, attributes, context) is not None:
            return None
        if self.matches_without_rules and not self.rules:
            found: MatchedResource | None = MatchedResource(attributes.resource, attributes.kind)
        else:
            found = self._first_match(self.rules, attributes, context)
        # A missing namespace is an error only if the rules match.
        if found is not None and in_namespace is None:
            raise not_found(_NAMESPACES, attributes.namespace)
        return found

    def _selects(self, attributes: AdmissionAttributes) -> bool:
        if self.objects.is_everything:
            return True
        return any(
            each is not None and self.objects.matches(_labels(each))
            for each in (attributes.obj, attributes.old)
        )

    def _first_match(
        self, rules: Sequence[MatchRule], attributes: AdmissionAttributes, context: MatchContext
    ) -> MatchedResource | None:
        for rule in rules:
            if rule.matches(attributes, attributes.resource):
                return MatchedResource(attributes.resource, attributes.kind)
        if self.takes_equivalents:
            others = list(context.equivalents(attributes.resource, attributes.subresource))
            for rule in rules:
                for matched in others:
                    if rule.matches(attributes, matched.resource):
                        return matched
        return None


def _selector(written: Mapping[str, Any]) -> Selector:
    try:
        return label_selector(written)
    except StatusError:
        # Validation rejects an invalid selector; an object of an older version may still have one.
        return NOTHING


def _labels(obj: Object) -> Mapping[str, str]:
    labels = (obj.get("metadata") or {}).get("labels")
    return labels if isinstance(labels, dict) else {}


def _is_in(
    selector: Selector, attributes: AdmissionAttributes, context: MatchContext
) -> bool | None:
    """Whether the selector selects the object's namespace; None if the namespace does not exist."""
    if selector.is_everything:
        return True
    if attributes.resource.resource != "namespaces":
        if not attributes.namespace:
            return True
    elif not attributes.subresource and attributes.operation in (CREATE, UPDATE):
        # The stored namespace may have other labels, or not exist yet.
        return selector.matches(_labels(attributes.obj or {}))
    namespace = context.find(_NAMESPACES, "", attributes.namespace)
    return None if namespace is None else selector.matches(_labels(namespace))
