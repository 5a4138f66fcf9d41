"""What it takes an operator to bring AppServices to Deployment, Service and status.

Each turn has a control plane of its own: what one operator leaves behind does not meet the next.
"""

import asyncio
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from bench.operators import Command, Operator, operating
from bench.rounds import Cost, Turn
from bench.task import NAMESPACE
from bench.world import HOME, add_apps, serve_apps_with_status
from steersman.clock import SystemClock
from steersman.testing import ControlPlane, find_binaries, running_control_plane

DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"

CONTROLLERS = ("deployment-controller", "replicaset-controller", "garbage-collector-controller")

# At their usual 20 requests a second, everybody would wait for them for minutes.
CONTROLLER_FLAGS = {"kube-api-qps": 10_000, "kube-api-burst": 10_000}

# An operator that has not been heard of for so long has seen that there is nothing yet,
SYNC_SECONDS = 1.0
# or has seen to everything there was.
SETTLE_SECONDS = 2.0

# A list of everything is work for the server, which the operator waits for as well.
LOOK_SECONDS = 1.0

REQUESTS = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="([^"]*)"')


@contextmanager
def cluster(*, controllers: bool) -> Iterator[ControlPlane]:
    """A control plane that serves AppServices, with or without those who see to Deployments."""
    with running_control_plane(find_binaries(environ=os.environ), clock=SystemClock()) as plane:
        asyncio.run(serve_apps_with_status(plane.kubeconfig))
        seeing_to_them = plane.running_controllers(*CONTROLLERS, flags=CONTROLLER_FLAGS)
        with seeing_to_them if controllers else nullcontext():
            yield plane


def converging(command: Command, *, count: int) -> Turn:
    """``count`` AppServices, from the creation of the first until the operator is quiet.

    ``cpu`` is all of the operator's process, ``start_cpu`` what of it was spent before that
    creation; ``writes`` are its requests that write, for each AppService.
    """

    def turn() -> Cost:
        with (
            cluster(controllers=True) as plane,
            operating(command, kubeconfig=plane.kubeconfig) as operator,
        ):
            operator.quiet(seconds=SYNC_SECONDS)
            start_seconds = operator.cpu_seconds()
            began_at = time.monotonic()
            asyncio.run(add_apps(plane.kubeconfig, range(count)))
            ended_at = settled(plane, operator, count)
            cpu_seconds = operator.cpu_seconds()
            return {
                "cpu": cpu_seconds,
                "start_cpu": start_seconds,
                "work_cpu": cpu_seconds - start_seconds,
                "wall": ended_at - began_at,
                "writes": writes(plane, created=count) / count,
                **operator.memory(),
            }

    return turn


def settled(plane: ControlPlane, operator: Operator, count: int) -> float:
    """Wait until all is as it should be and the operator is quiet; since when it is so."""
    while True:
        operator.wait_until(
            f"{count} AppServices with Deployment, Service and status",
            lambda: _is_converged(plane, count),
            poll_seconds=LOOK_SECONDS,
        )
        quiet_at = operator.quiet(seconds=SETTLE_SECONDS)
        if _is_converged(plane, count):
            return quiet_at


def _is_converged(plane: ControlPlane, count: int) -> bool:
    apps = _by_name(plane, HOME)
    if len(apps) != count or not all(map(_has_counts, apps.values())):
        return False
    deployments, services = _by_name(plane, DEPLOYMENTS), _by_name(plane, SERVICES)
    return all(
        name in services
        and services[name]["spec"]["type"] == "NodePort"
        and name in deployments
        and _owner(deployments[name]) == _owner(services[name]) == app["metadata"]["uid"]
        and _inlined(app) == _inlined(deployments[name])
        for name, app in apps.items()
    )


def _has_counts(app: Mapping[str, Any]) -> bool:
    """Whether its status is of what is wanted, as far as can be told without its Deployment."""
    status, wanted = app.get("status", {}), app["spec"]["size"]
    is_current: bool = status.get("observedGeneration") == app["metadata"]["generation"]
    return is_current and status.get("updatedReplicas", 0) == wanted


def _inlined(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a Deployment's status and an AppService's should have in common."""
    status = dict(obj.get("status", {}))
    status.pop("observedGeneration", None)
    conditions = {each["type"]: each for each in status.pop("conditions", ())}
    conditions.pop("Ready", None)
    return {**status, "conditions": conditions}


def _owner(child: Mapping[str, Any]) -> str | None:
    references: Sequence[Any] = child["metadata"].get("ownerReferences", ())
    return next((each["uid"] for each in references if each.get("controller")), None)


def _by_name(plane: ControlPlane, path: str) -> Mapping[str, Any]:
    with plane.caller() as api:
        items = api.call("GET", path).json()["items"]
    return {item["metadata"]["name"]: item for item in items}


def writes(plane: ControlPlane, *, created: int) -> float:
    """How many requests of the operator's that write the server has counted.

    Nobody else writes AppServices and Services, or Deployments apart from their status; but it was
    not the operator who created the AppServices.
    """
    with plane.caller() as api:
        text = api.call("GET", "/metrics", accept="text/plain").body.decode()
    total = -float(created)
    for labels, number in REQUESTS.findall(text):
        of = dict(LABEL.findall(labels))
        if of["verb"] in ("POST", "PUT", "PATCH", "APPLY") and (
            of["resource"] in ("appservices", "services")
            or (of["resource"] == "deployments" and of["subresource"] == "")
        ):
            total += float(number)
    return total
