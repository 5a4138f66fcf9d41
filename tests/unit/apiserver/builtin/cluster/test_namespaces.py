from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

import pytest

from steersman.clock import Clock
from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.cluster.namespaces import (
    NAMESPACE,
    NAMESPACES,
    check_namespace,
    terminating,
)
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.clocks import FakeClock
from tests.unit.apiserver.builtin.kind_handler import KindHandler

PODS = GroupResource("", "pods")
NOW = "2026-01-02T03:04:05Z"


@dataclass(frozen=True, kw_only=True)
class StoredNamespaces:
    """A strategy context with stored namespaces."""

    namespaces: dict[str, Object]
    clock: Clock = field(default_factory=FakeClock)
    rng: Random = field(default_factory=Random)

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        assert (resource, namespace) == (NAMESPACES, "")
        return self.namespaces.get(name)

    def every(self, resource: GroupResource, *, namespace: str = "") -> Iterable[Object]:
        return self.namespaces.values()


def a_namespace(name: str = "here", **spec: object) -> Object:
    return KindHandler("v1", "namespaces").create(
        {"metadata": {"name": name}, "spec": spec}, namespace=""
    )


def test_a_new_namespace_is_active_and_has_the_kubernetes_finalizer_and_name_label() -> None:
    namespace = a_namespace(finalizers=["example.com/mine"])

    assert namespace["status"] == {"phase": "Active"}
    assert namespace["spec"] == {"finalizers": ["example.com/mine", "kubernetes"]}
    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": "here"}


def test_a_new_object_in_a_missing_namespace_is_rejected() -> None:
    with pytest.raises(StatusError) as raised:
        check_namespace(
            StoredNamespaces(namespaces={}), "here", resource=PODS, name="x", creating=True
        )

    assert raised.value.status()["message"] == 'namespaces "here" not found'
    assert raised.value.code == 404


def test_a_new_object_in_a_terminating_namespace_is_rejected() -> None:
    ending = StoredNamespaces(namespaces={"here": terminating(a_namespace(), NOW)})

    with pytest.raises(StatusError) as raised:
        check_namespace(ending, "here", resource=PODS, name="x", creating=True)

    assert raised.value.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'pods "x" is forbidden: unable to create new content in namespace here'
        " because it is being terminated",
        "reason": "Forbidden",
        "details": {
            "name": "x",
            "kind": "pods",
            "causes": [
                {
                    "reason": "NamespaceTerminating",
                    "message": "namespace here is being terminated",
                    "field": "metadata.namespace",
                }
            ],
        },
        "code": 403,
    }


def test_an_object_in_a_terminating_namespace_can_be_updated() -> None:
    ending = StoredNamespaces(namespaces={"here": terminating(a_namespace(), NOW)})

    check_namespace(ending, "here", resource=PODS, name="x", creating=False)


def test_a_deleted_namespace_stays_until_its_finalizers_are_gone() -> None:
    assert NAMESPACE.begin_deletion is not None

    ending = NAMESPACE.begin_deletion(a_namespace(), NOW)

    assert ending["status"] == {"phase": "Terminating"}
    assert ending["metadata"]["deletionTimestamp"] == NOW
    assert NAMESPACE.blocks_deletion(ending)
    assert not NAMESPACE.blocks_deletion({**ending, "spec": {}})


def test_a_second_deletion_of_a_namespace_changes_nothing() -> None:
    assert NAMESPACE.begin_deletion is not None
    ending = NAMESPACE.begin_deletion(a_namespace(), NOW)

    assert NAMESPACE.begin_deletion(ending, "2027-01-01T00:00:00Z") is ending


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_a_system_namespace_cannot_be_deleted(name: str) -> None:
    assert NAMESPACE.begin_deletion is not None

    with pytest.raises(StatusError) as raised:
        NAMESPACE.begin_deletion(a_namespace(name), NOW)

    assert raised.value.message == (
        f'namespaces "{name}" is forbidden: this namespace may not be deleted'
    )


def test_only_the_finalize_subresource_changes_the_spec_finalizers() -> None:
    handler, old = KindHandler("v1", "namespaces"), a_namespace()
    new = {**old, "spec": {"finalizers": ["example.com/mine"]}}

    updated = handler.update(new, old, namespace="", subresource="")
    finalized = handler.update(new, old, namespace="", subresource="finalize")

    assert updated["spec"] == {"finalizers": ["kubernetes"]}
    assert finalized["spec"] == {"finalizers": ["example.com/mine"]}


@pytest.mark.parametrize(("ending", "phase"), [(False, "Terminating"), (True, "Active")])
def test_a_phase_that_contradicts_the_deletion_timestamp_is_rejected(
    ending: bool, phase: str
) -> None:
    old = terminating(a_namespace(), NOW) if ending else a_namespace()

    with pytest.raises(StatusError, match="422 Invalid") as raised:
        KindHandler("v1", "namespaces").update(
            {**old, "status": {"phase": phase}}, old, namespace="", subresource="status"
        )

    assert raised.value.status()["details"]["causes"][0]["field"] == "status.Phase"
