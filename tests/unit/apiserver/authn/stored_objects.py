"""A store with helpers that create and delete the objects of a test."""

from random import Random
from typing import Any

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.strategy import Strategy
from steersman_cluster.apiserver.registry.store import Store
from steersman_cluster.apiserver.storage import Key, RevisionLog
from tests.clocks import FakeClock

GROUP = "rbac.authorization.k8s.io"


class StoredObjects:
    """Objects of any resource; a second write replaces the object."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = Store(RevisionLog(), clock=self.clock, rng=Random(4))

    def keep(self, resource: GroupResource, obj: dict[str, Any]) -> None:
        key = self._key(resource, obj["metadata"])
        whole = {"apiVersion": "v1", "kind": "Any", **obj, "metadata": {**obj["metadata"]}}
        self.store.write(key, whole, strategy=Strategy(), replacing=self.store.view.get(key))

    def drop(self, resource: GroupResource, name: str, *, namespace: str = "") -> None:
        entry = self.store.view.get(self._key(resource, {"name": name, "namespace": namespace}))
        assert entry is not None
        self.store.delete(entry, strategy=Strategy())

    def account(self, namespace: str, name: str, *, uid: str = "u-1") -> dict[str, Any]:
        made = {"metadata": {"name": name, "namespace": namespace, "uid": uid}}
        self.keep(GroupResource("", "serviceaccounts"), made)
        return made

    def role(self, name: str, *rules: dict[str, Any], namespace: str = "") -> None:
        kind = "roles" if namespace else "clusterroles"
        about = {"name": name, "namespace": namespace}
        self.keep(GroupResource(GROUP, kind), {"metadata": about, "rules": list(rules)})

    def bind(
        self, role: str, *subjects: dict[str, str], namespace: str = "", kind: str = "ClusterRole"
    ) -> None:
        """Bind a role, by a binding of the same name."""
        binding = {
            "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
            "metadata": {"name": role, "namespace": namespace},
            "roleRef": {"apiGroup": GROUP, "kind": kind, "name": role},
            "subjects": list(subjects),
        }
        plural = "rolebindings" if namespace else "clusterrolebindings"
        self.keep(GroupResource(GROUP, plural), binding)

    @staticmethod
    def _key(resource: GroupResource, about: dict[str, str]) -> Key:
        namespace = about.get("namespace")
        place = f"{namespace}/{about['name']}" if namespace else about["name"]
        return Key(str(resource), place)


def rule(verbs: str, resources: str, *, groups: str = "") -> dict[str, Any]:
    return {
        "verbs": verbs.split(","),
        "apiGroups": groups.split(","),
        "resources": resources.split(","),
    }


def user(name: str) -> dict[str, str]:
    return {"kind": "User", "name": name}
