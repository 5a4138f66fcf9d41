"""What namespaces say about the security of their pods."""

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
from tests.unit.apiserver.builtin.here import Around

GOOD = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


@dataclass(frozen=True, kw_only=True)
class Labelled(Around):
    """A world of one namespace, and its pods."""

    labels: dict[str, str] = field(default_factory=dict)
    pods: list[Object] = field(default_factory=list)

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        return space(**self.labels)

    def every(self, resource: GroupResource, *, namespace: str = "") -> Iterable[Object]:
        return self.pods


def space(**labels: str) -> Object:
    named = {f"pod-security.kubernetes.io/{key}": value for key, value in labels.items()}
    return {"metadata": {"name": "x", "labels": named}}


def pod(name: str, context: Object, **spec: object) -> Object:
    containers = [{"name": "main", "image": "a", "securityContext": context}]
    about = {"name": name, "namespace": "x"}
    return {"metadata": about, "spec": {"containers": containers, **spec}}


def test_a_namespace_without_labels_takes_every_pod() -> None:
    assert secure_pod(pod("web", {"privileged": True}), None, Labelled()) == []


def test_a_pod_that_violates_the_enforced_standard_is_rejected_with_every_reason() -> None:
    around = Labelled(labels={"enforce": "restricted"})

    with pytest.raises(StatusError) as refusal:
        secure_pod(pod("web", {}), None, around)

    assert refusal.value.message == (
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


def test_a_restricted_pod_is_welcome() -> None:
    assert secure_pod(pod("web", GOOD), None, Labelled(labels={"enforce": "restricted"})) == []


def test_a_pod_that_violates_only_the_warn_standard_is_accepted_with_a_warning() -> None:
    around = Labelled(labels={"warn": "baseline"})

    assert secure_pod(pod("web", {}, hostNetwork=True), None, around) == [
        'would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'
    ]


def test_a_standard_is_as_its_version_has_it() -> None:
    probed = pod("web", {})
    probed["spec"]["containers"][0]["livenessProbe"] = {"httpGet": {"host": "a.b"}}

    old = secure_pod(probed, None, Labelled(labels={"warn": "baseline", "warn-version": "v1.33"}))
    new = secure_pod(probed, None, Labelled(labels={"warn": "baseline", "warn-version": "v1.34"}))

    assert old == []
    assert len(new) == 1


def test_a_change_that_runs_the_same_images_is_not_judged_again() -> None:
    around, bad = Labelled(labels={"enforce": "baseline"}), pod("web", {"privileged": True})

    assert secure_pod(bad, bad, around) == []


def test_what_makes_pods_is_warned_and_never_refused() -> None:
    around = Labelled(labels={"enforce": "baseline"})
    template = {"spec": pod("web", {"privileged": True})["spec"]}
    deployment = {"metadata": {"namespace": "x"}, "spec": {"template": template}}

    (warning,) = template_validator("spec", "template")(deployment, None, around)

    assert warning.startswith('would violate PodSecurity "baseline:latest": privileged')


def test_a_namespace_that_becomes_stricter_names_the_pods_that_it_would_refuse() -> None:
    around = Labelled(pods=[pod("b", {}), pod("a", {}), pod("c", GOOD)])

    warnings = validate_namespace_policy(space(enforce="restricted"), space(), around)

    assert [*warnings] == [
        'existing pods in namespace "x" violate the new PodSecurity enforce level'
        ' "restricted:latest"',
        "a (and 1 other pod): allowPrivilegeEscalation != false, unrestricted capabilities,"
        " runAsNonRoot != true, seccompProfile",
    ]


def test_a_level_that_there_is_not_is_refused() -> None:
    with pytest.raises(StatusError) as refusal:
        validate_namespace_policy(space(enforce="strict"), None, Labelled())

    assert sentences_of(refusal.value) == [
        'metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict":'
        " must be one of privileged, baseline, restricted"
    ]
