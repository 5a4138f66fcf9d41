"""Built-in kinds keep all fields on the way to the API server and back."""

from typing import Any

import msgspec
import pytest

from steersman.client import Client
from steersman.kinds import Codec, Resource, Scheme, Unstructured
from steersman.kinds.builtin import BUILTIN_KINDS
from steersman.openapi import load_all_facts
from tests.real.kubernetes_versions import needs_kubernetes
from tests.real.samples import reviews, rules_review, samples
from tests.unit.kinds.specimens import without_nulls

CODEC = Codec()

# Kinds of subresources, and kinds that only the server creates.
NOT_CREATED = {
    ("authentication.k8s.io/v1", "TokenRequest"),
    ("autoscaling/v1", "Scale"),
    ("policy/v1", "Eviction"),
    ("v1", "Binding"),
    ("v1", "ComponentStatus"),
}

# Kinds that are not served by all supported versions, with the first one that serves them.
NEWER_KINDS = {
    ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy"): "1.36",
    ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding"): "1.36",
}

# Fields that newer servers send, and that the classes do not have.
NEWER_FIELDS = {("storage.k8s.io/v1", "CSINode"): ("status",)}


def marks(kind: tuple[str, str]) -> list[pytest.MarkDecorator]:
    first = NEWER_KINDS.get(kind)
    return [needs_kubernetes(first, "the kind is not served")] if first else []


def listed_kinds() -> list[tuple[str, str]]:
    return [
        (f"{each['group']}/{each['version']}".lstrip("/"), resource["kind"])
        for each in load_all_facts().values()
        for resource in each["resources"].values()
        if "list" in resource["verbs"]
    ]


def kind_of(sample: Resource) -> tuple[str, str]:
    gvk = type(sample).resource_type.gvk
    return gvk.api_version, gvk.kind


def sample_of(kind: tuple[str, str], namespace: str) -> Resource:
    return next(each for each in samples(namespace) if kind_of(each) == kind)


def as_json(value: object) -> Any:
    return msgspec.json.decode(CODEC.encode(value))


def missing(sent: Any, kept: Any, parent: str = "") -> list[str]:
    """The paths of the sent values that the server did not keep."""
    if isinstance(sent, dict) and isinstance(kept, dict):
        return [
            path
            for key, value in sent.items()
            for path in missing(value, kept.get(key), f"{parent}.{key}")
        ]
    if isinstance(sent, list) and isinstance(kept, list) and len(sent) == len(kept):
        return [
            path
            for index, (one, other) in enumerate(zip(sent, kept, strict=True))
            for path in missing(one, other, f"{parent}[{index}]")
        ]
    # The server omits empty values.
    empty = sent in ("", 0, False, [], {}) and kept is None
    return [] if sent == kept or empty else [f"{parent}: sent {sent!r}, kept {kept!r}"]


@pytest.mark.parametrize(
    "kind",
    [pytest.param(each, marks=marks(each)) for each in map(kind_of, samples("x"))],
    ids=" ".join,
)
async def test_a_sample_of_each_kind_is_created_and_read_back_unchanged(
    kind: tuple[str, str], client: Client, namespace: str
) -> None:
    sample = sample_of(kind, namespace)
    resource_type = type(sample).resource_type

    await client.create(sample)
    try:
        raw = await client.get(
            Unstructured.at(resource_type), sample.name, namespace=sample.namespace
        )
        typed = await client.get(type(sample), sample.name, namespace=sample.namespace)
    finally:
        await client.delete(type(sample), sample.name, namespace=sample.namespace)

    assert missing(as_json(sample), raw.body) == []
    decoded = CODEC.decode(type(sample), CODEC.encode(raw), wanted="read")
    newer = NEWER_FIELDS.get(kind, ())
    known = {name: value for name, value in raw.body.items() if name not in newer}
    assert as_json(decoded) == without_nulls(known)
    assert (typed.uid, typed.ref) == (raw.uid, raw.ref)


@pytest.mark.parametrize("review", list(reviews("default")), ids=lambda review: review.kind)
async def test_the_response_to_a_review_has_a_status(review: Resource, client: Client) -> None:
    response = as_json(await client.create(review))

    assert response["status"]
    assert missing(as_json(review), response) == []


async def test_the_response_to_a_rules_review_has_only_a_status(client: Client) -> None:
    response = await client.create(rules_review("default"))

    assert response.status is not None
    assert ("*",) in [rule.verbs for rule in response.status.resource_rules]


def test_there_is_a_sample_of_every_kind_that_can_be_created() -> None:
    sampled = {kind_of(each) for each in (*samples("x"), *reviews("x"), rules_review("x"))}

    assert sampled == BUILTIN_KINDS.keys() - NOT_CREATED


@pytest.mark.parametrize(
    "kind", [pytest.param(each, marks=marks(each)) for each in listed_kinds()], ids=" ".join
)
async def test_initial_objects_of_the_server_fit_their_classes(
    kind: tuple[str, str], client: Client
) -> None:
    typed = Scheme().class_of(*kind)

    raw = (await client.list(Unstructured.at(typed.resource_type))).items
    found = [CODEC.decode(typed, CODEC.encode(each), wanted="read") for each in raw]

    assert [as_json(each) for each in found] == [without_nulls(each.body) for each in raw]
