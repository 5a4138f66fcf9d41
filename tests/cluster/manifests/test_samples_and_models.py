"""Samples, breaking changes and models of a definition, checked against a server."""

import importlib.util
import sys
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from opdemo import appservice

from steersman.cli.models import definition_from_cluster, models_tree, write_models
from steersman.client import Client, connect, find_config
from steersman.clock import SystemClock
from steersman.errors import BadDefinition, ConfigError, ManagerFailed
from steersman.kinds import Unstructured
from steersman.manifests import as_document, breaking_changes, crd_of, sample_of
from steersman.observe import Observation
from steersman_cluster.apiserver import ClusterSettings, RunningCluster, running_cluster
from tests.embedded import EmbeddedServer
from tests.unit.manifests.breaking_examples import BROKEN
from tests.unit.manifests.crds import definition, fields, rich

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

groups = count(1)


@pytest.fixture
def api() -> EmbeddedServer:
    """A server with only built-in kinds."""
    return EmbeddedServer()


async def create(api: EmbeddedServer, crd: dict[str, Any], obj: dict[str, Any]) -> Any:
    """Define the kind, and create an object of it with strict field validation."""
    await api.asked("POST", DEFINITIONS, crd)
    spec = crd["spec"]
    where = f"/apis/{obj['apiVersion']}/namespaces/default/{spec['names']['plural']}"
    return await api.ask("POST", f"{where}?fieldValidation=Strict", obj)


async def test_a_sample_of_a_complex_kind_is_accepted_and_stored_unchanged(
    api: EmbeddedServer,
) -> None:
    sample = sample_of(rich())

    response = await create(api, rich(), dict(sample))

    assert response.status == 201, response.body
    assert response.json["spec"] == sample["spec"]


async def test_a_sample_of_an_operators_own_kind_is_accepted(api: EmbeddedServer) -> None:
    crd = dict(as_document(crd_of(appservice.AppService)))

    response = await create(api, crd, dict(sample_of(crd)))

    assert response.status == 201, response.body


@pytest.mark.parametrize(("old", "new", "value"), BROKEN, ids=range(len(BROKEN)))
async def test_a_reported_breaking_change_is_rejected_by_the_server(
    api: EmbeddedServer, old: Any, new: Any, value: Any
) -> None:
    responses: list[Any] = []
    for schema in (old, new):
        group = f"g{next(groups)}.example.com"
        crd = definition(fields(it=schema), group=group)
        crd["metadata"]["name"] = f"widgets.{group}"
        obj = {
            "apiVersion": f"{group}/v1",
            "kind": "Widget",
            "metadata": {"name": "one"},
            "spec": {"it": value},
        }
        responses.append(await create(api, crd, obj))

    found = breaking_changes(definition(fields(it=old)), definition(fields(it=new)))

    assert found != ()
    assert responses[0].status == 201
    assert responses[1].status in (400, 422)  # unknown field, or invalid value


async def test_the_server_rejects_a_schema_that_is_reported_as_invalid(api: EmbeddedServer) -> None:
    old, new = definition(), definition(name="v2")
    await api.asked("POST", DEFINITIONS, old)

    stored = await api.asked("GET", f"{DEFINITIONS}/widgets.shop.example.com")
    new["metadata"] = stored["metadata"]
    response = await api.ask("PUT", f"{DEFINITIONS}/widgets.shop.example.com", new)

    assert response.status == 422
    assert "was removed, but objects may be stored in it" in str(breaking_changes(stored, new)[1])


# Models from a cluster


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[RunningCluster]:
    """A cluster with a kubeconfig."""

    def observe(_: Observation) -> None: ...

    async with running_cluster(
        ClusterSettings(kubeconfig=tmp_path / "kubeconfig"),
        clock=SystemClock(),
        rng=Random(0),
        observe=observe,
        environ={},
    ) as running:
        yield running


async def asked_for(name: str, kubeconfig: Path) -> Any:
    return await definition_from_cluster(
        name,
        kubeconfig=kubeconfig,
        context=None,
        clock=SystemClock(),
        rng=Random(0),
        environ={},
    )


async def test_models_from_a_cluster_read_its_objects(
    cluster: RunningCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def observe(_: Observation) -> None: ...

    config = find_config(environ={}, home=tmp_path, observe=observe, kubeconfig=cluster.kubeconfig)
    async with connect(config, clock=SystemClock(), rng=Random(0), observe=observe) as client:
        await put(client, rich(), namespaced=False)
        await put(client, dict(sample_of(rich())), namespaced=True)

        found = await asked_for("gadgets.shop.example.com", cluster.kubeconfig)
        (path,) = write_models(tmp_path / "models", models_tree([found]))
        gadget = await client.get(
            imported(path, monkeypatch).Gadget, "gadget-sample", namespace="default"
        )

    assert gadget.spec.mode == "fast"
    assert [each.port for each in gadget.spec.ports] == [1, 2]
    assert gadget.spec.limits["key"].most == 1
    assert gadget.declared_crd is None


async def put(client: Client, body: dict[str, Any], *, namespaced: bool) -> None:
    kind = Unstructured.of(body["apiVersion"], body["kind"], namespaced=namespaced)
    if namespaced:
        body = {**body, "metadata": {**body["metadata"], "namespace": "default"}}
    await client.create(kind(body))


def imported(path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = importlib.util.spec_from_file_location("models_from_a_cluster", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # The types are resolved when a class is first decoded.
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


async def test_a_missing_definition_is_an_error(
    cluster: RunningCluster,
) -> None:
    with pytest.raises(
        BadDefinition, match=r"nothing\.example\.com .* contains no definition with this name"
    ):
        await asked_for("nothing.example.com", cluster.kubeconfig)


async def test_an_unreachable_cluster_is_an_error(cluster: RunningCluster, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    port = cluster.url.rpartition(":")[2]
    # No server listens on port 1.
    text = cluster.kubeconfig.read_text("utf-8").replace(f":{port}", ":1")
    elsewhere.write_text(text, "utf-8")

    with pytest.raises(ManagerFailed, match="does not respond"):
        await asked_for("widgets.shop.example.com", elsewhere)
    with pytest.raises(ConfigError):
        await asked_for("widgets.shop.example.com", tmp_path / "nowhere")
