"""Admission requests, and a cluster with namespaces and equivalent resources."""

from collections.abc import Iterable, Mapping
from typing import Any

from steersman.names import GroupResource, GroupVersionKind, GroupVersionResource
from steersman_cluster.apiserver.admission.attributes import CREATE, AdmissionAttributes
from steersman_cluster.apiserver.admission.matcher import MatchedResource
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.users import User

MAP = GroupVersionKind("", "v1", "ConfigMap")
MAPS = GroupVersionResource("", "v1", "configmaps")


def request(**changes: Any) -> AdmissionAttributes:
    """Return a request in which a user creates a ConfigMap."""
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "y"}}
    usual: dict[str, Any] = {
        "operation": CREATE,
        "kind": MAP,
        "resource": MAPS,
        "subresource": "",
        "namespace": "default",
        "name": "a",
        "user": User(name="ann", groups=("people",)),
        "obj": obj,
        "old": None,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        "dry_run": False,
    }
    return AdmissionAttributes(**{**usual, **changes})


class FakeCluster:
    """A cluster with labeled namespaces and the other versions of a resource."""

    def __init__(
        self, *, namespaces: Mapping[str, Mapping[str, str]] | None = None, others: Any = ()
    ) -> None:
        self._namespaces = namespaces or {}
        self._others: Iterable[MatchedResource] = others

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        """Return a namespace."""
        if resource.resource != "namespaces" or namespace or name not in self._namespaces:
            return None
        return {"metadata": {"name": name, "labels": dict(self._namespaces[name])}}

    def equivalents(
        self, resource: GroupVersionResource, subresource: str
    ) -> Iterable[MatchedResource]:
        """Return the other versions of a resource."""
        return [each for each in self._others if each.resource != resource and not subresource]
