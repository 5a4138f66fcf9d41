"""Pods from templates, and the names of templates."""

import pytest

from steersman.controller import controller_of
from steersman.kinds import core_v1, meta_v1, replace
from steersman_cluster.workloads.pods import pod_from, pod_prefix, safe_name, template_hash
from steersman_cluster.workloads.pods.template_hash import fnv_1a
from tests.unit.workloads.pods.samples import replica_set

TEMPLATE = core_v1.PodTemplateSpec(
    metadata=meta_v1.ObjectMeta(
        labels={"app": "web", "b": "2"}, annotations={"a": "1"}, finalizers=("example.com/x",)
    ),
    spec=core_v1.PodSpec(containers=(core_v1.Container(name="main", image="main:1"),)),
)


def test_a_pod_has_its_template_and_its_owner() -> None:
    rs = replica_set("web")

    made = pod_from(TEMPLATE, owner=rs, labels={"index": "3"}, finalizers=("example.com/y",))

    assert made.metadata.generate_name == "web-"
    assert made.namespace == "here"
    assert made.labels == {"app": "web", "b": "2", "index": "3"}
    assert made.annotations == {"a": "1"}
    assert made.metadata.finalizers == ("example.com/x", "example.com/y")
    assert made.spec == TEMPLATE.spec
    owner = controller_of(made)
    assert owner is not None
    assert (owner.uid, owner.block_owner_deletion) == (rs.uid, True)


def test_a_named_pod_has_no_generate_name() -> None:
    made = pod_from(TEMPLATE, owner=replica_set("web"), name="web-0")

    assert (made.name, made.metadata.generate_name) == ("web-0", None)


@pytest.mark.parametrize(("length", "dash"), [(252, "-"), (253, "")])
def test_a_prefix_that_is_too_long_has_no_dash(length: int, dash: str) -> None:
    assert pod_prefix("x" * length) == "x" * length + dash


def test_a_template_has_the_same_hash_in_every_process() -> None:
    assert template_hash(TEMPLATE) == "566bcbc89f"


def test_the_hash_depends_on_collisions_and_not_on_the_order_of_labels() -> None:
    metadata = meta_v1.ObjectMeta(
        labels={"b": "2", "app": "web"}, annotations={"a": "1"}, finalizers=("example.com/x",)
    )
    turned = replace(TEMPLATE, metadata=metadata)

    assert template_hash(turned) == template_hash(TEMPLATE)
    hashes = [template_hash(TEMPLATE, collisions) for collisions in (None, 0, 1, 2)]
    assert len(set(hashes)) == 4


@pytest.mark.parametrize(
    ("content", "hashed"), [(b"", 0x811C9DC5), (b"a", 0xE40C292C), (b"foobar", 0xBF9CF968)]
)
def test_the_hash_is_fnv_1a(content: bytes, hashed: int) -> None:
    assert fnv_1a(content) == hashed


def test_a_safe_name_has_no_vowels() -> None:
    assert safe_name(1234567890) == "56789bcdf4"
