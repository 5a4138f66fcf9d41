"""Pod security standards, configured by namespace labels."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.plugins.pod_security import (
    secure_pod,
    template_validator,
    validate_namespace_policy,
)
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.builtin.causes import sentences_of
from tests.unit.apiserver.builtin.kind_handler import FakeStrategyContext

GOOD = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


@dataclass(frozen=True, kw_only=True)
class LabeledNamespace(FakeStrategyContext):
    """A strategy context with one namespace and its pods."""

    labels: dict[str, str] = field(default_factory=dict)
    pods: list[Object] = field(default_factory=list)

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        return namespace_with(**self.labels)

    def every(self, resource: GroupResource, *, namespace: str = "") -> Iterable[Object]:
        return self.pods


def namespace_with(**labels: str) -> Object:
    named = {f"pod-security.kubernetes.io/{key}": value for key, value in labels.items()}
    return {"metadata": {"name": "x", "labels": named}}


def pod(name: str, context: Object, **spec: object) -> Object:
    containers = [{"name": "main", "image": "a", "securityContext": context}]
    about = {"name": name, "namespace": "x"}
    return {"metadata": about, "spec": {"containers": containers, **spec}}


def test_a_namespace_without_labels_accepts_every_pod() -> None:
    assert secure_pod(pod("web", {"privileged": True}), None, LabeledNamespace()) == []


def test_a_pod_that_violates_the_enforced_standard_is_rejected_with_every_reason() -> None:
    context = LabeledNamespace(labels={"enforce": "restricted"})

    with pytest.raises(StatusError) as raised:
        secure_pod(pod("web", {}), None, context)

    assert raised.value.message == (
        'pods "web" is forbidden: violates PodSecurity "restricted:latest":'
        " allowPrivilegeEscalation != false"
        ' (container "main" must set securityContext.allowPrivilegeEscalation=false),'
        ' unrestricted capabilities (container "main" must set'
        ' securityContext.capabilities.drop=["ALL"]),'
        ' runAsNonRoot != true (pod or container "main" must set'
        " securityContext.runAsNonRoot=true),"
        ' seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to'
        ' "RuntimeDefault" or "Localhost")'
    )


def test_a_restricted_pod_is_accepted() -> None:
    assert (
        secure_pod(pod("web", GOOD), None, LabeledNamespace(labels={"enforce": "restricted"})) == []
    )


def test_a_pod_that_violates_only_the_warn_standard_is_accepted_with_a_warning() -> None:
    context = LabeledNamespace(labels={"warn": "baseline"})

    assert secure_pod(pod("web", {}, hostNetwork=True), None, context) == [
        'would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'
    ]


def test_the_warn_version_label_selects_the_version_of_the_standard() -> None:
    probed = pod("web", {})
    probed["spec"]["containers"][0]["livenessProbe"] = {"httpGet": {"host": "a.b"}}

    old = secure_pod(
        probed, None, LabeledNamespace(labels={"warn": "baseline", "warn-version": "v1.33"})
    )
    new = secure_pod(
        probed, None, LabeledNamespace(labels={"warn": "baseline", "warn-version": "v1.34"})
    )

    assert old == []
    assert len(new) == 1


def test_an_update_with_the_same_images_is_not_validated_again() -> None:
    context, bad = (
        LabeledNamespace(labels={"enforce": "baseline"}),
        pod("web", {"privileged": True}),
    )

    assert secure_pod(bad, bad, context) == []


def test_a_workload_with_a_violating_template_gets_only_a_warning() -> None:
    context = LabeledNamespace(labels={"enforce": "baseline"})
    template = {"spec": pod("web", {"privileged": True})["spec"]}
    deployment = {"metadata": {"namespace": "x"}, "spec": {"template": template}}

    (warning,) = template_validator("spec", "template")(deployment, None, context)

    assert warning.startswith('would violate PodSecurity "baseline:latest": privileged')


def test_a_stricter_namespace_gets_a_warning_with_its_violating_pods() -> None:
    context = LabeledNamespace(pods=[pod("b", {}), pod("a", {}), pod("c", GOOD)])

    warnings = validate_namespace_policy(
        namespace_with(enforce="restricted"), namespace_with(), context
    )

    assert [*warnings] == [
        'existing pods in namespace "x" violate the new PodSecurity enforce level'
        ' "restricted:latest"',
        "a (and 1 other pod): allowPrivilegeEscalation != false, unrestricted capabilities,"
        " runAsNonRoot != true, seccompProfile",
    ]


def test_an_unknown_level_is_rejected() -> None:
    with pytest.raises(StatusError) as raised:
        validate_namespace_policy(namespace_with(enforce="strict"), None, LabeledNamespace())

    assert sentences_of(raised.value) == [
        'metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict":'
        " must be one of privileged, baseline, restricted"
    ]
