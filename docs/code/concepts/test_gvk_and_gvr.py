"""What the page about GVK and GVR says."""

import pytest

import steersman as sm
from docs.code.concepts.gvk_and_gvr import gvk, gvr, resource_type
from steersman.client import RestMapper
from steersman.errors import BadName
from steersman.names import GroupVersionKind
from steersman_cluster.simulation import Cluster


def test_a_class_knows_its_coordinates() -> None:
    assert (resource_type.gvk, resource_type.gvr) == (gvk, gvr)
    assert resource_type.namespaced
    assert (str(gvk), str(gvr)) == ("apps/v1 Deployment", "apps/v1 deployments")
    assert GroupVersionKind.of("v1", "Pod").group == ""


def badly_named() -> type[sm.Resource]:
    class Ship(sm.CustomResource[sm.Part, sm.Part], group="Harbour", version="v1"):
        """A ship."""

    return Ship


def test_a_name_that_kubernetes_would_refuse_is_refused_where_it_is_written() -> None:
    with pytest.raises(BadName, match=r"at least one dot, like app\.example\.com"):
        badly_named()


async def test_what_no_class_stands_for_is_looked_up_at_the_server(cluster: Cluster) -> None:
    mapper = RestMapper(cluster.client)

    found = await mapper.named("hpa")

    assert found.resource_type.gvk == GroupVersionKind(
        "autoscaling", "v2", "HorizontalPodAutoscaler"
    )
    assert found.resource_type.plural == "horizontalpodautoscalers"
