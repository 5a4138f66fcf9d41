"""Tests of the code in the page about custom resources."""

import pytest

from docs.code.concepts.custom_resources import Fleet, Spec
from steersman.errors import Invalid
from steersman.kinds import meta_v1
from steersman.manifests import as_document, crd_of
from steersman_cluster.simulation import Cluster


def fleet(*, least: int, most: int) -> Fleet:
    """An object as a user applies it."""
    return Fleet(
        metadata=meta_v1.ObjectMeta(name="web"), spec=Spec(image="nginx", least=least, most=most)
    )


async def test_the_server_stores_a_valid_object(cluster: Cluster) -> None:
    await cluster.install(Fleet)

    await cluster.apply(fleet(least=1, most=3))

    assert (await cluster.get(Fleet, "web")).spec == Spec(image="nginx", least=1, most=3)


@pytest.mark.parametrize(
    ("least", "most", "why"),
    [
        (-1, 3, "should be greater than or equal to 0"),
        (1, 101, "should be less than or equal to 100"),
        (4, 3, "least must not be above most"),
    ],
)
async def test_the_server_rejects_an_invalid_object(
    cluster: Cluster, least: int, most: int, why: str
) -> None:
    await cluster.install(Fleet)

    with pytest.raises(Invalid, match=why):
        await cluster.apply(fleet(least=least, most=most))

    assert await cluster.find(Fleet, "web") is None


def test_the_definition_contains_the_rules_of_the_class() -> None:
    (version,) = as_document(crd_of(Fleet))["spec"]["versions"]

    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert spec["required"] == ["image"]
    assert spec["properties"]["least"]["default"] == 1
    assert version["subresources"] == {"status": {}}
