"""``kubectl explain``: descriptions of the fields of built-in and custom kinds."""

from pathlib import Path
from typing import Any

import pytest

from steersman_cluster.testing import ControlPlane
from tests.cluster.test_command_line import running
from tests.real.definitions import GROUP
from tests.real.foreign.kubectl import Kubectl

WIDGET = ".".join([*reversed(GROUP.split(".")), "v1", "Widget"])
POD, POD_LIST = "io.k8s.api.core.v1.Pod", "io.k8s.api.core.v1.PodList"


@pytest.fixture
async def published_documents(control_plane: ControlPlane, widgets: None) -> None:
    """Wait until the OpenAPI documents have Widgets, which the real server publishes late."""
    with control_plane.caller() as server:
        while WIDGET not in server.call("GET", "/openapi/v2").json()["definitions"] or (
            server.call("GET", f"/openapi/v3/apis/{GROUP}/v1").status != 200
        ):
            pass


@pytest.mark.parametrize(
    ("field", "description"),
    [
        ("configmap", "ConfigMap holds configuration data for pods to consume."),
        ("configmap.data", "Each key must consist of"),
        ("deployment.spec.replicas", "Number of desired pods."),
        ("pod.spec.containers.image", "Container image name."),
        ("widgets", "APIVersion defines the versioned schema of this representation"),
        ("widgets", "Kind is a string value representing the REST resource"),
        ("widgets", "Standard object's metadata."),
        ("widgets.metadata.labels", "Map of string keys and values"),
    ],
)
async def test_explain_prints_the_description_of_a_kind_or_field(
    field: str, description: str, control_plane: ControlPlane, published_documents: None
) -> None:
    found = " ".join(control_plane.kubectl("explain", field).split())

    assert description in found


async def test_a_custom_kind_and_its_list_are_described_like_others_in_both_documents(
    control_plane: ControlPlane, published_documents: None
) -> None:
    with control_plane.caller() as server:
        v2 = server.call("GET", "/openapi/v2").json()["definitions"]
        v3 = server.call("GET", f"/openapi/v3/apis/{GROUP}/v1").json()["components"]["schemas"]

    for found in (v2, v3):
        widget, listed = found[WIDGET]["properties"], found[f"{WIDGET}List"]["properties"]
        for key in ("apiVersion", "kind", "metadata"):
            assert text(widget[key]) == text(v2[POD]["properties"][key])
            assert text(listed[key]) == text(v2[POD_LIST]["properties"][key])
        assert text(found[f"{WIDGET}List"]) == "WidgetList is a list of Widget"
        assert text(listed["items"]).startswith("List of widgets. More info: https://")
        assert text(listed["items"]).endswith("api-conventions.md")


def test_without_the_package_explain_prints_only_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An empty package of the same name hides the installed one.
    (tmp_path / "kubernetes_validate").mkdir()
    (tmp_path / "kubernetes_validate" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    with running(tmp_path, "--no-workloads") as server:
        found = Kubectl(server=server, namespace="default", home=tmp_path)("explain", "configmap")

    assert "data\t<map[string]string>" in found
    assert "holds configuration data" not in found


def text(schema: Any) -> str:
    description = schema["description"]
    assert description
    return str(description)
