"""Which account a pod has, and how it comes to its token; tests/real asks the real server."""

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
class Around:
    """A namespace with these accounts."""

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
    admit_account(pod, Around(accounts={each["metadata"]["name"]: each for each in accounts}))
    spec: Object = pod["spec"]
    return spec


def refusal(pod: Object, *accounts: Object) -> str:
    with pytest.raises(StatusError) as refused:
        admitted(pod, *accounts)
    return refused.value.message


def test_a_pod_that_names_none_has_the_account_of_its_namespace() -> None:
    spec = admitted(pod(), account("default", imagePullSecrets=[{"name": "pull"}]))

    assert spec["serviceAccountName"] == spec["serviceAccount"] == "default"
    assert spec["imagePullSecrets"] == [{"name": "pull"}]


def test_every_container_is_shown_the_token_but_where_something_else_is_there() -> None:
    mounts = [{"name": "mine", "mountPath": MOUNT_PATH}]
    spec = admitted(
        pod(initContainers=[{"name": "first", "volumeMounts": mounts}], volumes=[{"name": "mine"}]),
        account("default"),
    )

    assert spec["initContainers"][0]["volumeMounts"] == mounts
    (mount,) = spec["containers"][0]["volumeMounts"]
    assert (mount["readOnly"], mount["mountPath"]) == (True, MOUNT_PATH)
    assert [each["name"] for each in spec["volumes"]] == ["mine", mount["name"]]


def test_the_pod_decides_before_its_account_whether_it_wants_a_token() -> None:
    unwilling = account("default", automountServiceAccountToken=False)

    assert "volumes" not in admitted(pod(), unwilling)
    assert "volumes" in admitted(pod(automountServiceAccountToken=True), unwilling)
    assert "volumes" not in admitted(pod(automountServiceAccountToken=False), account("default"))


def test_a_pod_without_its_account_is_refused() -> None:
    said = refusal(pod(serviceAccountName="robot"), account("default"))

    assert said == (
        'pods "pod" is forbidden: error looking up service account here/robot:'
        ' serviceaccount "robot" not found'
    )


def test_an_account_may_limit_which_secrets_its_pods_use() -> None:
    annotations = {"kubernetes.io/enforce-mountable-secrets": "true"}
    strict = account("default", metadata={"annotations": annotations}, secrets=[{"name": "one"}])
    env = [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "two"}}}]

    assert admitted(pod(volumes=[{"name": "v", "secret": {"secretName": "one"}}]), strict)
    assert (
        'container main with envVar KEY referencing secret.secretName="two" is not allowed because'
        " service account default does not reference that secret"
    ) in refusal(pod(containers=[{"name": "main", "env": env}]), strict)
