"""The correction of the root certificate."""

from steersman.kinds import core_v1, meta_v1
from steersman_cluster.workloads.namespaces.default_objects import (
    DESCRIBED,
    DESCRIPTION,
    correction,
)


def found(data: dict[str, str] | None, *, described: str = "") -> core_v1.ConfigMap:
    annotations = {DESCRIPTION: described} if described else None
    return core_v1.ConfigMap(metadata=meta_v1.ObjectMeta(annotations=annotations), data=data)


def test_a_correct_certificate_is_not_changed() -> None:
    right = found({"ca.crt": "CA"}, described="in other words")

    assert correction(right, root_ca="CA") == {}


def test_a_changed_certificate_is_replaced() -> None:
    change = correction(found({"ca.crt": "old", "more": "x"}), root_ca="CA")

    assert change["data"] == {"more": None, "ca.crt": "CA"}
    assert change["metadata"] == {"annotations": {DESCRIPTION: DESCRIBED}}


def test_an_empty_certificate_or_one_without_its_annotation_is_corrected() -> None:
    assert correction(found(None), root_ca="CA")["data"] == {"ca.crt": "CA"}
    assert correction(found({"ca.crt": "CA"}), root_ca="CA")["data"] == {"ca.crt": "CA"}
