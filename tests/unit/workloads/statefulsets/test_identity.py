"""The identity of the Pods of a StatefulSet."""

import pytest

from steersman.kinds import core_v1, meta_v1, replace
from steersman_cluster.workloads.statefulsets.identity import (
    claims_for,
    has_storage,
    new_pod,
    parent_and_ordinal,
    spec_of,
)
from tests.unit.workloads.statefulsets.samples import DATA, pod, stateful_set


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("web-0", ("web", 0)),
        ("web-1-23", ("web-1", 23)),
        ("web", None),
        ("web-01", None),
        ("web-x", None),
        ("web--1", ("web-", 1)),
        (f"web-{2**31}", None),
    ],
)
def test_a_pod_name_contains_its_set_and_ordinal(name: str, found: tuple[str, int] | None) -> None:
    assert parent_and_ordinal(name) == found


def test_a_new_pod_has_its_name_labels_and_hostname() -> None:
    owner = stateful_set()

    made = new_pod(owner, spec_of(owner).template, ordinal=2, revision="web-abc")

    assert made.name == "web-2"
    assert made.labels == {
        "app": "web",
        "statefulset.kubernetes.io/pod-name": "web-2",
        "apps.kubernetes.io/pod-index": "2",
        "controller-revision-hash": "web-abc",
    }
    assert made.spec is not None
    assert (made.spec.hostname, made.spec.subdomain) == ("web-2", "web-service")


def test_a_claim_replaces_the_template_volume_of_its_name() -> None:
    owner = stateful_set(claims=(DATA,))
    template = replace(
        spec_of(owner).template,
        spec=core_v1.PodSpec(
            containers=(),
            volumes=(
                core_v1.Volume(name="data", empty_dir=core_v1.EmptyDirVolumeSource()),
                core_v1.Volume(name="more", empty_dir=core_v1.EmptyDirVolumeSource()),
            ),
        ),
    )

    made = new_pod(owner, template, ordinal=1, revision="r")

    assert made.spec is not None
    assert made.spec.volumes is not None
    first, second = made.spec.volumes
    assert (first.name, second.name) == ("data", "more")
    assert first.persistent_volume_claim is not None
    assert first.persistent_volume_claim.claim_name == "data-web-1"
    assert has_storage(owner, made)
    assert not has_storage(owner, pod(1))


def test_a_claim_has_the_labels_of_its_template_and_of_the_selector() -> None:
    template = core_v1.PersistentVolumeClaim(
        metadata=meta_v1.ObjectMeta(
            name="data", labels={"tier": "db", "app": "other"}, annotations={"a": "b"}
        )
    )

    [made] = claims_for(stateful_set(claims=(template,)), 7)

    assert (made.name, made.namespace) == ("data-web-7", "here")
    assert made.labels == {"tier": "db", "app": "web"}
    assert made.annotations == {"a": "b"}
