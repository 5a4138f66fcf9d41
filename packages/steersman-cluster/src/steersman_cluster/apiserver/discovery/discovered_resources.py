"""The served resources in the form from which discovery documents are created."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.meta.group_versions import (
    GROUP_PRIORITY,
    VERSION_PRIORITY,
    GroupVersionInfo,
)
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinResource

# Kinds whose storage version is in another version or group.
_STORED_ELSEWHERE = {
    GroupVersionKind("events.k8s.io", "v1", "Event"): GroupVersionKind("", "v1", "Event"),
    GroupVersionKind("autoscaling", "v1", "HorizontalPodAutoscaler"): GroupVersionKind(
        "autoscaling", "v2", "HorizontalPodAutoscaler"
    ),
    **{
        GroupVersionKind(group, "v1", kind): GroupVersionKind(group, "v1beta1", kind)
        for group, kind in (
            ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
            ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
            ("apiextensions.k8s.io", "CustomResourceDefinition"),
        )
    },
}

# The order of the groups in discovery, in which kubectl resolves a name that several groups have.
_GROUPS = (
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
)
_GROUP_PLACES = {group: place for place, group in enumerate(_GROUPS)}

_VERSION = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STABILITY = {None: 0, "beta": 1, "alpha": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveredSubresource:
    """A subresource, such as ``status`` or ``scale``, with its verbs."""

    name: str
    gvk: GroupVersionKind  # of the request and response bodies
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveredResource:
    """A served resource in one API version, with its kind, its names and its verbs."""

    gvk: GroupVersionKind
    plural: str
    singular: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[DiscoveredSubresource, ...] = ()
    stored_as: GroupVersionKind | None = None  # None: not stored
    custom: bool = False

    @property
    def storage_version_hash(self) -> str | None:
        """A hash of the group, version and kind in which objects are stored; None if none are."""
        if self.stored_as is None:
            return None
        stored = f"{self.stored_as.group}/{self.stored_as.version}/{self.stored_as.kind}"
        return b64encode(sha256(stored.encode()).digest()[:8]).decode()


def stored_version(gvk: GroupVersionKind) -> GroupVersionKind:
    """Return the group, version and kind in which kube-apiserver stores objects of ``gvk``.

    The version can differ from that of ``gvk``; the group can, too.
    """
    return _STORED_ELSEWHERE.get(gvk, gvk)


def discovered_builtin(resource: BuiltinResource) -> DiscoveredResource:
    """Return the built-in resource ``resource`` in the form that discovery uses."""
    gvk = resource.gvk
    return DiscoveredResource(
        gvk=gvk,
        plural=resource.plural,
        singular=resource.singular,
        namespaced=resource.namespaced,
        verbs=resource.verbs,
        short_names=resource.short_names,
        categories=resource.categories,
        subresources=tuple(
            DiscoveredSubresource(
                name=name,
                gvk=GroupVersionKind(
                    found.get("group", gvk.group), found.get("version", gvk.version), found["kind"]
                ),
                verbs=tuple(found["verbs"]),
            )
            for name, found in resource.subresources.items()
        ),
        # Reviews and bindings are created, never deleted.
        stored_as=stored_version(gvk) if "delete" in resource.verbs else None,
    )


class DiscoveryCatalog:
    """The discovered resources by API group and version, sorted as in discovery documents."""

    def __init__(
        self,
        resources: Iterable[DiscoveredResource],
        claims: Mapping[tuple[str, str], GroupVersionInfo] | None = None,
    ) -> None:
        self._claims = claims or {}
        found: dict[str, dict[str, list[DiscoveredResource]]] = {}
        for resource in sorted(resources, key=lambda each: each.plural):
            versions = found.setdefault(resource.gvk.group, {})
            versions.setdefault(resource.gvk.version, []).append(resource)
        for group, version in self._claims:
            found.setdefault(group, {}).setdefault(version, [])
        self._groups = {
            group: {version: found[group][version] for version in self._versions(found, group)}
            for group in sorted(found, key=lambda each: self._group_order(each, found[each]))
        }

    def _versions(self, found: Mapping[str, Iterable[str]], group: str) -> list[str]:
        def preference(version: str) -> int:
            claim = self._claims.get((group, version))
            return -(claim.version_priority if claim else VERSION_PRIORITY)

        return sorted(in_order(found[group]), key=preference)

    def _group_order(self, group: str, versions: Iterable[str]) -> tuple[int, int, str]:
        claims = (self._claims.get((group, version)) for version in versions)
        highest = max(each.group_priority if each else GROUP_PRIORITY for each in claims)
        return (_GROUP_PLACES.get(group, len(_GROUPS)), -highest, group)

    def is_remote(self, group: str, version: str) -> bool:
        """Whether an aggregated API server, not this one, serves the API group version."""
        claim = self._claims.get((group, version))
        return claim is not None and claim.remote

    def groups(self) -> Iterator[str]:
        """Yield all API groups except the core group, which has a separate path."""
        return (group for group in self._groups if group != "")

    def versions(self, group: str) -> list[str]:
        """Return the versions of the API group ``group``, starting with the preferred one.

        The result is empty for an unknown group.
        """
        return list(self._groups.get(group, ()))

    def resources(self, group: str, version: str) -> list[DiscoveredResource]:
        """Return the resources of an API group version, sorted by name.

        The result is empty for an unknown group version.
        """
        return self._groups.get(group, {}).get(version, [])


def in_order(versions: Iterable[str]) -> list[str]:
    """Return API versions, sorted by Kubernetes' preference.

    For example: v10, v2, v1, v2beta1, v1alpha1, then versions with other names.
    """
    return sorted(versions, key=_version_order)


def _version_order(version: str) -> tuple[int, int, int, str]:
    found = _VERSION.fullmatch(version)
    if found is None:
        return (len(_STABILITY), 0, 0, version)
    major, stability, minor = found.groups()
    return (_STABILITY[stability], -int(major), -int(minor or 0), version)
