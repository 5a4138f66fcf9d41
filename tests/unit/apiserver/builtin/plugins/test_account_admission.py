"""ServiceAccount admission. tests/real compares it with kube-apiserver."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from steersman.clock import Clock
from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.plugins.account_admission import MOUNT_PATH, admit_account
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.clocks import FakeClock


@dataclass(frozen=True, kw_only=True)
class FakeStrategyContext:
    """A strategy context with these service accounts."""

    accounts: dict[str, Object]
    clock: Clock = field(default_factory=FakeClock)
    rng: Random = field(default_factory=lambda: Random(4))

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        return self.accounts.get(name)

    def every(self, resource: GroupResource, *, namespace: str = "") -> Iterable[Object]:
        return ()


def account(name: str, **rest: Any) -> Object:
    return {"metadata": {"name": name, **rest.pop("metadata", {})}, **rest}


def pod(**spec: Any) -> Object:
    return {
        "metadata": {"name": "pod", "namespace": "here"},
        "spec": {"containers": [{"name": "main"}], **spec},
    }


def admitted(pod: Object, *accounts: Object) -> Object:
    admit_account(
        pod, FakeStrategyContext(accounts={each["metadata"]["name"]: each for each in accounts})
    )
    spec: Object = pod["spec"]
    return spec


def rejection(pod: Object, *accounts: Object) -> str:
    with pytest.raises(StatusError) as raised:
        admitted(pod, *accounts)
    return raised.value.message


def test_a_pod_without_an_account_gets_the_default_account() -> None:
    spec = admitted(pod(), account("default", imagePullSecrets=[{"name": "pull"}]))

    assert spec["serviceAccountName"] == spec["serviceAccount"] == "default"
    assert spec["imagePullSecrets"] == [{"name": "pull"}]


def test_the_token_is_mounted_in_every_container_without_a_mount_at_its_path() -> None:
    mounts = [{"name": "mine", "mountPath": MOUNT_PATH}]
    spec = admitted(
        pod(initContainers=[{"name": "first", "volumeMounts": mounts}], volumes=[{"name": "mine"}]),
        account("default"),
    )

    assert spec["initContainers"][0]["volumeMounts"] == mounts
    (mount,) = spec["containers"][0]["volumeMounts"]
    assert (mount["readOnly"], mount["mountPath"]) == (True, MOUNT_PATH)
    assert [each["name"] for each in spec["volumes"]] == ["mine", mount["name"]]


def test_automounting_in_the_pod_takes_precedence_over_the_account() -> None:
    unwilling = account("default", automountServiceAccountToken=False)

    assert "volumes" not in admitted(pod(), unwilling)
    assert "volumes" in admitted(pod(automountServiceAccountToken=True), unwilling)
    assert "volumes" not in admitted(pod(automountServiceAccountToken=False), account("default"))


def test_a_pod_with_a_missing_account_is_rejected() -> None:
    message = rejection(pod(serviceAccountName="robot"), account("default"))

    assert message == (
        'pods "pod" is forbidden: error looking up service account here/robot:'
        ' serviceaccount "robot" not found'
    )


def test_an_account_can_restrict_the_secrets_of_its_pods() -> None:
    annotations = {"kubernetes.io/enforce-mountable-secrets": "true"}
    strict = account("default", metadata={"annotations": annotations}, secrets=[{"name": "one"}])
    env = [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "two"}}}]

    assert admitted(pod(volumes=[{"name": "v", "secret": {"secretName": "one"}}]), strict)
    assert (
        'container main with envVar KEY referencing secret.secretName="two" is not allowed because'
        " service account default does not reference that secret"
    ) in rejection(pod(containers=[{"name": "main", "env": env}]), strict)
