"""The embedded cluster in place of a real control plane, with the same faults."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from steersman.clock import SystemClock
from steersman_cluster.testing import (
    EmbeddedControlPlane,
    fresh_namespace,
    running_embedded_control_plane,
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedControlPlane]:
    with running_embedded_control_plane(clock=SystemClock()) as cluster:
        yield cluster


def test_it_is_ready_when_the_block_is_entered(cluster: EmbeddedControlPlane) -> None:
    with cluster.caller() as api:
        assert api.call("GET", "/api/v1/namespaces/default").status == 200


def test_a_test_namespace_is_deleted_with_its_content(
    cluster: EmbeddedControlPlane,
) -> None:
    with fresh_namespace(cluster) as name, cluster.caller() as api:
        maps = f"/api/v1/namespaces/{name}/configmaps"
        held = {"metadata": {"name": "held", "finalizers": ["example.com/held"]}}
        api.call("POST", maps, held)

    with cluster.caller() as api:
        assert api.call("GET", f"/api/v1/namespaces/{name}").status == 404
        assert api.call("GET", maps).json()["items"] == []


def test_a_restart_keeps_all_writes(cluster: EmbeddedControlPlane) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    with cluster.caller() as api:
        created = api.call("POST", path, {"metadata": {"name": "kept"}}).json()

    with cluster.api_server.stopped():
        pass

    with cluster.caller() as api:
        assert api.call("GET", f"{path}/kept").json() == created


def test_the_history_can_be_compacted(cluster: EmbeddedControlPlane) -> None:
    path = "/api/v1/namespaces"
    with cluster.caller() as api:
        version = api.call("GET", path).json()["metadata"]["resourceVersion"]

    cluster.forget_history()

    with cluster.caller() as api:
        exact = f"{path}?resourceVersion={version}&resourceVersionMatch=Exact"
        assert api.call("GET", exact).status == 410
        assert api.call("GET", path).status == 200


def test_a_stopped_embedded_cluster_leaves_nothing() -> None:
    with running_embedded_control_plane(clock=SystemClock()) as cluster:
        directory, process = cluster.directory, cluster.api_server.pid

    assert process is not None
    assert not directory.exists()
    assert not Path(f"/proc/{process}").exists()
