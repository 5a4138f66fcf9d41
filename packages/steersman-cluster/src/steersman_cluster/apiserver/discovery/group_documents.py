"""The discovery documents, classic and aggregated, sorted as in kube-apiserver."""

import platform
import sys
from collections.abc import Iterable
from typing import Any

from steersman.names import GroupVersionKind
from steersman.openapi import VERSION
from steersman_cluster.apiserver.discovery.discovered_resources import (
    DiscoveredResource,
    DiscoveredSubresource,
    DiscoveryCatalog,
)

Document = dict[str, Any]


def api_versions(server_address: str) -> Document:
    """Return the discovery document at ``/api``."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [
            {"clientCIDR": "0.0.0.0/0", "serverAddress": server_address}
        ],
    }


def group_list(catalog: DiscoveryCatalog) -> Document:
    """Return the discovery document at ``/apis``: all API groups."""
    groups = [_group(catalog, group) for group in catalog.groups()]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(catalog: DiscoveryCatalog, name: str) -> Document | None:
    """Return the discovery document of the API group ``name``, such as ``/apis/apps``.

    The result is None if the group does not exist.
    """
    if not name or not catalog.versions(name):
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(catalog, name)}


def resource_list(catalog: DiscoveryCatalog, group: str, version: str) -> Document | None:
    """Return the discovery document of an API group version, such as ``/apis/apps/v1``.

    The result is None if the group version does not exist.
    """
    resources = catalog.resources(group, version)
    if not resources:
        return None
    # kube-apiserver omits the apiVersion in the list of the core group.
    api_version = {"apiVersion": "v1"} if group else {}
    return {
        "kind": "APIResourceList",
        **api_version,
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": [line for each in resources for line in _lines(each)],
    }


def aggregated(catalog: DiscoveryCatalog, groups: Iterable[str]) -> Document:
    """Return one aggregated discovery document with all versions and resources of ``groups``."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [
            found for group in groups if (found := _aggregated_group(catalog, group))["versions"]
        ],
    }


# Go's names of architectures.
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def version() -> Document:
    """Return the document at ``/version``: the Kubernetes version."""
    major, minor = VERSION.split(".")
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": f"v{VERSION}.3+steersman",
        "gitCommit": "0" * 40,
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        # Python in place of Go.
        "goVersion": f"python{platform.python_version()}",
        "compiler": platform.python_implementation().lower(),
        "platform": f"{sys.platform}/{_MACHINES.get(machine := platform.machine(), machine)}",
    }


def paths(catalog: DiscoveryCatalog, others: Iterable[str]) -> Document:
    """Return the document at ``/``: the list of the server's paths, including ``others``."""
    found = {"/api", "/apis", "/apis/", "/version", *others}
    found |= {f"/api/{version}" for version in catalog.versions("")}
    for group in catalog.groups():
        found.add(f"/apis/{group}")
        found |= {f"/apis/{group}/{version}" for version in catalog.versions(group)}
    return {"paths": sorted(found)}


def _group(catalog: DiscoveryCatalog, name: str) -> Document:
    versions = [
        {"groupVersion": f"{name}/{version}", "version": version}
        for version in catalog.versions(name)
    ]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _lines(resource: DiscoveredResource) -> Iterable[Document]:
    line: Document = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.gvk.kind,
        "verbs": resource.verbs,
        "shortNames": resource.short_names,
        "categories": resource.categories,
        "storageVersionHash": resource.storage_version_hash,
    }
    yield {name: value for name, value in line.items() if value not in (None, ())}
    for each in resource.subresources:
        yield {
            "name": f"{resource.plural}/{each.name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            **_if_foreign(each, resource.gvk),
            "kind": each.gvk.kind,
            "verbs": each.verbs,
        }


def _if_foreign(subresource: DiscoveredSubresource, own: GroupVersionKind) -> Document:
    """Return the group and version of a subresource if they differ from the resource's."""
    gvk = subresource.gvk
    if (gvk.group, gvk.version) == (own.group, own.version):
        return {}
    return {"group": gvk.group, "version": gvk.version}


def _aggregated_group(catalog: DiscoveryCatalog, group: str) -> Document:
    versions = (_aggregated_version(catalog, group, each) for each in catalog.versions(group))
    return {
        "metadata": {"name": group} if group else {},
        "versions": [each for each in versions if each],
    }


def _aggregated_version(catalog: DiscoveryCatalog, group: str, version: str) -> Document | None:
    """Return the entry of a version; None for a registered version that serves no resources."""
    resources = [_aggregated_resource(each) for each in catalog.resources(group, version)]
    if resources:
        return {"version": version, "resources": resources, "freshness": "Current"}
    if catalog.is_remote(group, version):
        return {"version": version, "freshness": "Stale"}
    return None


def _aggregated_resource(resource: DiscoveredResource) -> Document:
    found: Document = {
        "resource": resource.plural,
        "responseKind": _response_kind(resource.gvk, resource),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": resource.verbs,
        "shortNames": resource.short_names,
        "categories": resource.categories,
        "subresources": tuple(
            {
                "subresource": each.name,
                "responseKind": _response_kind(each.gvk, resource),
                "verbs": each.verbs,
            }
            for each in resource.subresources
        ),
    }
    return {name: value for name, value in found.items() if value != ()}


def _response_kind(gvk: GroupVersionKind, resource: DiscoveredResource) -> Document:
    own = (gvk.group, gvk.version) == (resource.gvk.group, resource.gvk.version)
    # kube-apiserver omits the group version of a built-in kind if it is that of the resource.
    group, version = ("", "") if own and not resource.custom else (gvk.group, gvk.version)
    return {"group": group, "version": version, "kind": gvk.kind}
