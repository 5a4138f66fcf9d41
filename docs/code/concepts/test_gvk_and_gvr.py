"""Tests of the code in the page about GVK and GVR."""

import pytest

import steersman as sm
from docs.code.concepts.gvk_and_gvr import gvk, gvr, resource_type
from steersman.client import RestMapper
from steersman.errors import BadName
from steersman.names import GroupVersionKind
from steersman_cluster.simulation import Cluster


def test_a_class_has_both_identifiers() -> None:
    assert (resource_type.gvk, resource_type.gvr) == (gvk, gvr)
    assert resource_type.namespaced
    assert (str(gvk), str(gvr)) == ("apps/v1 Deployment", "apps/v1 deployments")
    assert GroupVersionKind.of("v1", "Pod").group == ""


def badly_named() -> type[sm.Resource]:
    class Ship(sm.CustomResource[sm.Part, sm.Part], group="Harbour", version="v1"):
        """A ship."""

    return Ship


def test_an_invalid_group_is_an_error_in_the_class_statement() -> None:
    with pytest.raises(BadName, match=r"at least one dot, such as app\.example\.com"):
        badly_named()


async def test_a_mapper_looks_up_a_short_name_on_the_server(cluster: Cluster) -> None:
    mapper = RestMapper(cluster.client)

    found = await mapper.named("hpa")

    assert found.resource_type.gvk == GroupVersionKind(
        "autoscaling", "v2", "HorizontalPodAutoscaler"
    )
    assert found.resource_type.plural == "horizontalpodautoscalers"
