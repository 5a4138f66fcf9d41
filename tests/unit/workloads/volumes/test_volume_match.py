"""Selection of a volume for a claim."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from steersman.kinds import core_v1, meta_v1, storage_v1
from steersman.units import Quantity
from steersman_cluster.workloads.volumes.volume_match import (
    DEFAULT_CLASS,
    best_match,
    class_of,
    default_among,
    is_for,
    mismatch,
)

Claim = core_v1.PersistentVolumeClaim
Volume = core_v1.PersistentVolume

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def claim(size: str = "5Gi", *, uid: str = "uid-of-data", **spec: Any) -> Claim:
    spec.setdefault("access_modes", ("ReadWriteOnce",))
    return core_v1.PersistentVolumeClaim(
        metadata=meta_v1.ObjectMeta(name="data", namespace="here", uid=uid),
        spec=core_v1.PersistentVolumeClaimSpec(
            resources=core_v1.VolumeResourceRequirements(requests={"storage": Quantity(size)}),
            **spec,
        ),
    )


def volume(
    name: str,
    size: str = "5Gi",
    *,
    phase: str = "Available",
    labels: Mapping[str, str] | None = None,
    is_ending: bool = False,
    **spec: Any,
) -> Volume:
    spec.setdefault("access_modes", ("ReadWriteOnce",))
    return core_v1.PersistentVolume(
        metadata=meta_v1.ObjectMeta(
            name=name, labels=labels, deletion_timestamp=EPOCH if is_ending else None
        ),
        spec=core_v1.PersistentVolumeSpec(capacity={"storage": Quantity(size)}, **spec),
        status=core_v1.PersistentVolumeStatus(phase=phase),
    )


def set_aside(uid: str | None = None) -> core_v1.ObjectReference:
    return core_v1.ObjectReference(namespace="here", name="data", uid=uid)


def match(wanted: Claim, *volumes: Volume) -> str | None:
    found = best_match(volumes, wanted)
    return None if found is None else found.name


def test_a_claim_is_bound_to_the_smallest_volume_that_fits() -> None:
    assert match(claim(), volume("a", "1Ti"), volume("b", "6Gi"), volume("c", "4Gi")) == "b"


def test_of_equal_volumes_the_first_by_name_is_selected() -> None:
    assert match(claim(), volume("b"), volume("a")) == "a"


def test_fewer_access_modes_win_over_a_smaller_size() -> None:
    many = volume("many", "5Gi", access_modes=("ReadWriteOnce", "ReadWriteMany"))

    assert match(claim(), many, volume("few", "9Gi")) == "few"


@pytest.mark.parametrize(
    "other",
    [
        volume("v", "4Gi"),
        volume("v", access_modes=("ReadOnlyMany",)),
        volume("v", storage_class_name="fast"),
        volume("v", volume_mode="Block"),
        volume("v", volume_attributes_class_name="gold"),
        volume("v", phase="Released"),
        volume("v", is_ending=True),
        volume("v", claim_ref=core_v1.ObjectReference(namespace="here", name="else")),
    ],
    ids=["size", "modes", "class", "block", "attributes", "released", "ending", "another's"],
)
def test_a_volume_that_does_not_fit_is_not_selected(other: Volume) -> None:
    assert match(claim(), other) is None


def test_a_claim_selector_limits_the_volumes() -> None:
    wanted = claim(selector=meta_v1.LabelSelector(match_labels={"tier": "db"}))

    assert match(wanted, volume("a"), volume("b", labels={"tier": "db"})) == "b"


def test_a_volume_reserved_for_the_claim_wins_over_all_others() -> None:
    assert match(claim(), volume("a"), volume("b", "1Ti", claim_ref=set_aside())) == "b"


def test_a_volume_of_an_earlier_claim_with_the_name_does_not_match() -> None:
    assert not is_for(volume("v", claim_ref=set_aside("uid-of-an-earlier-one")), claim())
    assert is_for(volume("v", claim_ref=set_aside("uid-of-data")), claim())


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (volume("v", "1Gi"), "requested PV is too small"),
        (volume("v", storage_class_name="fast"), "storageClassName does not match"),
        (volume("v", volume_mode="Block"), "incompatible volumeMode"),
        (volume("v", access_modes=("ReadOnlyMany",)), "incompatible accessMode"),
        (volume("v", is_ending=True), 'the volume is marked for deletion "v"'),
        (volume("v"), None),
    ],
)
def test_a_volume_named_by_the_claim_must_fit(other: Volume, message: str | None) -> None:
    assert mismatch(other, claim()) == message


def test_the_beta_annotation_sets_the_class_too() -> None:
    old = core_v1.PersistentVolumeClaim(
        metadata=meta_v1.ObjectMeta(annotations={"volume.beta.kubernetes.io/storage-class": ""})
    )

    assert class_of(old) == ""
    assert class_of(claim()) is None


def test_of_several_default_classes_the_newest_wins() -> None:
    def storage_class(
        name: str, seconds: float, is_default: str = "true"
    ) -> storage_v1.StorageClass:
        return storage_v1.StorageClass(
            metadata=meta_v1.ObjectMeta(
                name=name,
                annotations={DEFAULT_CLASS: is_default},
                creation_timestamp=EPOCH + timedelta(seconds=seconds),
            ),
            provisioner="p",
        )

    found = default_among(
        [
            storage_class("c", 5),
            storage_class("b", 5),
            storage_class("a", 1),
            storage_class("d", 9, is_default="false"),
        ]
    )

    assert found is not None
    assert found.name == "b"
