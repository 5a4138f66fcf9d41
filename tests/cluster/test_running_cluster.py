"""A cluster inside a block: the files that it creates and removes, and its errors."""

import errno
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest

from steersman.client import connect, find_config
from steersman.clock import SystemClock
from steersman.kinds import core_v1
from steersman.names import GroupResource
from steersman.observe import Observation
from steersman.wire import Request
from steersman_cluster.apiserver import ClusterSettings, RunningCluster, running_cluster
from steersman_cluster.errors import ClusterError
from tests.certificates import Authority


@asynccontextmanager
async def running(
    settings: ClusterSettings, *, environ: Mapping[str, str] | None = None
) -> AsyncIterator[RunningCluster]:
    def observe(observation: Observation) -> None:
        raise AssertionError(observation)

    async with running_cluster(
        settings, clock=SystemClock(), rng=Random(0), observe=observe, environ=environ or {}
    ) as cluster:
        yield cluster


def ours(tmp_path: Path, **rest: Any) -> ClusterSettings:
    return ClusterSettings(kubeconfig=tmp_path / "kubeconfig", **rest)


def names_in(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


async def test_a_client_that_knows_only_the_kubeconfig_finds_and_trusts_it(tmp_path: Path) -> None:
    def observe(_: Observation) -> None: ...

    async with running(ours(tmp_path)) as cluster:
        config = find_config(
            environ={"KUBECONFIG": str(cluster.kubeconfig)}, home=tmp_path, observe=observe
        )
        async with connect(config, clock=SystemClock(), rng=Random(0), observe=observe) as client:
            found = await client.list(core_v1.Namespace)

    assert "default" in [each.name for each in found.items]


async def test_a_server_on_a_free_port_reports_the_port(tmp_path: Path) -> None:
    async with running(ours(tmp_path, port=0)) as cluster:
        port = urlsplit(cluster.url).port
        store = cluster.server.store
        service = store.find(GroupResource("", "services"), "default", "kubernetes")
        reply = await cluster.server.handle(
            Request(
                method="GET",
                path="/api",
                query=(),
                headers=(("authorization", f"Bearer {cluster.token}"),),
                body=None,
            )
        )

    assert service is not None
    assert service["spec"]["ports"][0]["targetPort"] == port
    assert f"127.0.0.1:{port}".encode() in reply.body


async def test_an_error_of_the_block_is_not_reported_as_a_cluster_error(tmp_path: Path) -> None:
    with pytest.raises(PermissionError, match="mine"):
        async with running(ours(tmp_path)):
            raise PermissionError(errno.EACCES, "mine")

    assert names_in(tmp_path) == []


async def test_inside_a_pod_a_cluster_starts_only_with_force(tmp_path: Path) -> None:
    inside = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}

    with pytest.raises(ClusterError, match="inside a Kubernetes cluster"):
        async with running(ours(tmp_path), environ=inside):
            pass
    async with running(ours(tmp_path, even_in_a_cluster=True), environ=inside) as cluster:
        assert cluster.url.startswith("https://127.0.0.1:")


async def test_a_kubeconfig_that_another_program_has_changed_is_kept(tmp_path: Path) -> None:
    async with running(ours(tmp_path)) as cluster:
        cluster.kubeconfig.write_text("theirs", encoding="utf-8")

    assert (tmp_path / "kubeconfig").read_text(encoding="utf-8") == "theirs"


async def test_the_kubeconfig_of_a_running_cluster_is_not_replaced(
    tmp_path: Path,
) -> None:
    async with running(ours(tmp_path)) as first:
        before = first.kubeconfig.read_text(encoding="utf-8")

        with pytest.raises(ClusterError, match=f"still runs at {first.url}"):
            async with running(ours(tmp_path)):
                pass

        assert first.kubeconfig.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("is_same", [True, False])
async def test_a_kubeconfig_that_a_killed_cluster_left_is_replaced(
    tmp_path: Path, is_same: bool
) -> None:
    async with running(ours(tmp_path)) as killed:
        left = killed.kubeconfig.read_text(encoding="utf-8")
    (tmp_path / "kubeconfig").write_text(left, encoding="utf-8")
    port = int(killed.url.rpartition(":")[2]) if is_same else 0

    async with running(ours(tmp_path, port=port)) as cluster:
        assert cluster.url in cluster.kubeconfig.read_text(encoding="utf-8")

    assert names_in(tmp_path) == []


async def test_an_encrypted_key_is_rejected_without_a_password_prompt(
    tmp_path: Path,
) -> None:
    pair = Authority().server("127.0.0.1")
    certificate, key = tmp_path / "crt", tmp_path / "key"
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.encrypted_key(b"password"))

    with pytest.raises(ClusterError, match="certificates or keys cannot be used"):
        async with running(ours(tmp_path, tls_cert_file=certificate, tls_private_key_file=key)):
            pass


async def test_every_start_has_its_own_token(tmp_path: Path) -> None:
    tokens = set()
    for _ in range(2):
        async with running(ours(tmp_path)) as cluster:
            tokens.add(cluster.token)

    assert len(tokens) == 2
    assert all(len(token) >= 32 for token in tokens)


async def test_it_listens_on_loopback_unless_configured_otherwise(tmp_path: Path) -> None:
    async with running(ours(tmp_path)) as cluster:
        assert cluster.url.startswith("https://127.0.0.1:")
    async with running(ours(tmp_path, host="::1")) as cluster:
        assert cluster.url.startswith("https://[::1]:")
