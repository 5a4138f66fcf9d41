"""The cluster's other clients during a measurement: users, and the Deployment controller."""

from pathlib import Path
from random import Random
from typing import Any

import msgspec
import yaml

from bench.harness.task import CONFIG_MAP, CONFIG_MAP_KEY, CONFIG_MAP_VALUE, GROUP, VERSION
from bench.instructions.servers import TOKEN
from steersman.clock import Clock
from steersman.observe import ignore
from steersman.wire import Request
from steersman_cluster.apiserver import (
    ApiServer,
    InProcessTransport,
    NoWebhookTransport,
    RevisionLog,
    administrator,
)

CRD = Path(__file__).parents[1] / "harness" / "appservices.crd.yaml"
MERGE = (("Content-Type", "application/merge-patch+json"),)


class ClusterUsers:
    """An embedded API server and its users, whose instructions are not counted."""

    def __init__(self, clock: Clock) -> None:
        self.server = ApiServer(
            log=RevisionLog(),
            tokens={TOKEN: administrator()},
            clock=clock,
            rng=Random(0),
            observe=ignore,
            outbound=NoWebhookTransport(),
        )
        self._clock = clock
        self._transport = InProcessTransport(self.server)

    async def until(self, moment_at: float) -> None:
        """Wait until the clock shows ``moment_at``."""
        await self._clock.sleep(max(0.0, moment_at - self._clock.monotonic()))

    async def serve_apps(self) -> None:
        """Serve AppServices with a status subresource."""
        crd = yaml.safe_load(CRD.read_text())
        for version in crd["spec"]["versions"]:
            version["subresources"] = {"status": {}}
        home = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        await self._send("POST", home, crd)

    async def create_namespace(self, name: str) -> None:
        """Create a namespace."""
        await self._send("POST", "/api/v1/namespaces", {"metadata": {"name": name}})

    async def create_config_map(self) -> None:
        """Create the ConfigMap that the workload reads."""
        body = {"metadata": {"name": CONFIG_MAP}, "data": {CONFIG_MAP_KEY: CONFIG_MAP_VALUE}}
        await self._send("POST", "/api/v1/namespaces/default/configmaps", body)

    async def create_app(self, number: int, *, namespace: str = "default") -> None:
        """Create an AppService."""
        await self._send("POST", _apps(namespace), _app(number))

    async def change_app(self, number: int, *, size: int) -> None:
        """Change an AppService's size."""
        path = f"{_apps('default')}/{_name(number)}"
        await self._send("PATCH", path, {"spec": {"size": size}}, headers=MERGE)

    async def get_app(self, number: int) -> None:
        """Get an AppService."""
        await self._send("GET", f"{_apps('default')}/{_name(number)}")

    async def list_apps(self) -> int:
        """List the AppServices, and return their number."""
        return len((await self._send("GET", _apps("default")))["items"])

    async def watch_apps(self, *, changes: int) -> int:
        """Watch until ``changes`` events have arrived, and return their number."""
        query = (("watch", "true"), ("resourceVersion", await self._version()))
        request = Request(method="GET", path=_apps("default"), query=query)
        seen = 0
        async with self._transport.open(request) as response:
            async for piece in response.chunks():
                seen += piece.count(b"\n")
                if seen >= changes:
                    break
        return seen

    async def _version(self) -> str:
        listed = await self._send("GET", _apps("default"))
        return str(listed["metadata"]["resourceVersion"])

    async def move_deployment(self, number: int, step: int) -> None:
        """Set a Deployment's status: first observed, then Pods created, then all of them ready."""
        path = f"/apis/apps/v1/namespaces/default/deployments/{_name(number)}/status"
        body = {"status": _deployment_status(number % 3 + 1, step)}
        await self._send("PATCH", path, body, headers=MERGE)

    async def check_apps_are_ready(self, count: int) -> None:
        """Fail unless all AppServices are ready and have their Services."""
        items = (await self._send("GET", _apps("default")))["items"]
        ready = [
            app
            for app in items
            if any(
                each["type"] == "Ready" and each["status"] == "True"
                for each in app.get("status", {}).get("conditions", ())
            )
        ]
        services = (await self._send("GET", "/api/v1/namespaces/default/services"))["items"]
        # One Service is the server's own.
        if len(ready) != count or len(services) != count + 1:
            raise AssertionError(
                f"of {count} AppServices {len(ready)} are ready, {len(services) - 1} have Services"
            )

    async def _send(
        self, method: str, path: str, body: Any = None, *, headers: tuple[tuple[str, str], ...] = ()
    ) -> Any:
        content = None if body is None else msgspec.json.encode(body)
        request = Request(method=method, path=path, headers=headers, body=content)
        async with self._transport.open(request) as response:
            content = await response.read(limit_bytes=2**30)
            if response.status >= 300:
                raise AssertionError(f"{method} {path}: {response.status} {content[:400]!r}")
        return msgspec.json.decode(content)


def _apps(namespace: str) -> str:
    return f"/apis/{GROUP}/{VERSION}/namespaces/{namespace}/appservices"


def _name(number: int) -> str:
    return f"app-{number:05}"


def _app(number: int) -> Any:
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "AppService",
        "metadata": {
            "name": _name(number),
            "labels": {"app.kubernetes.io/name": _name(number), "team": f"team-{number % 40}"},
        },
        "spec": {
            "image": f"registry.example.com/shop/{_name(number)}:1.{number % 25}.0",
            "size": number % 3 + 1,
            "ports": [{"name": "http", "port": 80, "targetPort": 8000 + number % 100}],
            "envs": [
                {"name": "LOG_LEVEL", "value": "info"},
                {"name": "DATABASE_HOST", "value": f"db-{number % 40}.example.com"},
            ],
            "resources": {
                "requests": {"cpu": "100m", "memory": "64Mi"},
                "limits": {"memory": "128Mi"},
            },
        },
    }


def _deployment_status(size: int, step: int) -> Any:
    since = "2026-11-01T00:00:10Z"
    progressing = {
        "type": "Progressing",
        "status": "True",
        "reason": "NewReplicaSetAvailable" if step == 2 else "NewReplicaSetCreated",
        "message": "Created new replica set",
        "lastTransitionTime": since,
        "lastUpdateTime": since,
    }
    available = {
        "type": "Available",
        "status": "True" if step == 2 else "False",
        "reason": "MinimumReplicasAvailable" if step == 2 else "MinimumReplicasUnavailable",
        "message": "Deployment has minimum availability.",
        "lastTransitionTime": since,
        "lastUpdateTime": since,
    }
    if step == 0:
        return {"observedGeneration": 1, "conditions": [progressing]}
    counted = {"replicas": size, "updatedReplicas": size, "conditions": [available, progressing]}
    if step == 1:
        return {**counted, "unavailableReplicas": size}
    return {**counted, "unavailableReplicas": 0, "readyReplicas": size, "availableReplicas": size}
