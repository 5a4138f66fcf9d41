"""Checks of the children of all AppServices, from lists of all objects. No I/O."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opdemo.appservice import AppService, Spec

import steersman as sm
from steersman.kinds import Resource, apps_v1, core_v1

COUNTS = (
    "replicas",
    "updated_replicas",
    "ready_replicas",
    "available_replicas",
    "unavailable_replicas",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """All AppServices, and all objects of the kinds that they own."""

    apps: Sequence[AppService]
    deployments: Sequence[apps_v1.Deployment]
    services: Sequence[core_v1.Service]

    @property
    def versions(self) -> Mapping[tuple[str, str], tuple[str, str]]:
        """The uid and the version of each object."""
        return {
            (type(each).__name__, each.name): (each.uid, each.resource_version)
            for each in (*self.apps, *self.deployments, *self.services)
        }

    def uids(self, kind: type[Resource]) -> Mapping[str, str]:
        """The uid of each object of this kind, by name."""
        everything: Sequence[Resource] = (*self.apps, *self.deployments, *self.services)
        return {each.name: each.uid for each in everything if isinstance(each, kind)}

    @property
    def node_ports(self) -> Mapping[str, tuple[int | None, ...]]:
        """The node port of each Service."""
        return {
            each.name: tuple(port.node_port for port in (each.spec and each.spec.ports) or ())
            for each in self.services
        }


def flaws(sight: Sight, *, wanted: Mapping[str, Spec]) -> Iterator[str]:
    """The deviations from the desired state, given the desired AppServices."""
    apps = {each.uid: each for each in sight.apps}
    there = {each.name: (each.spec.image, each.spec.size) for each in sight.apps}
    for name in sorted(wanted.keys() | there.keys()):
        if name not in there:
            yield f"AppService {name} is lost"
        elif name not in wanted:
            yield f"AppService {name} should not be"
        elif there[name] != (wanted[name].image, wanted[name].size):
            yield f"AppService {name} is {there[name]}"
    deployments = _by_owner(sight.deployments)
    services = _by_owner(sight.services)
    for children in (deployments, services):
        for uid in children.keys() - apps.keys():
            yield from (f"{child.ref} is an orphan" for child in children[uid])
    for uid, app in apps.items():
        if len(deployments[uid]) != 1:
            yield f"{app.ref} has {len(deployments[uid])} Deployments"
        else:
            yield from _deployment_flaws(app, deployments[uid][0])
        if len(services[uid]) != 1:
            yield f"{app.ref} has {len(services[uid])} Services"
        else:
            yield from _service_flaws(app, services[uid][0])


def _by_owner(children: Sequence[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for child in children:
        owners = [each.uid for each in child.metadata.owner_references or () if each.controller]
        found[owners[0] if owners else ""].append(child)
    return found


def _deployment_flaws(app: AppService, deployment: apps_v1.Deployment) -> Iterator[str]:
    spec, status = deployment.spec, deployment.status
    assert spec is not None
    pods = spec.template.spec
    images = [each.image for each in (pods.containers if pods is not None else ())]
    if images != [app.spec.image]:
        yield f"{deployment.ref} has {images}, not {app.spec.image}"
    if spec.replicas != app.spec.size:
        yield f"{deployment.ref} has {spec.replicas} replicas, not {app.spec.size}"
    if status is None or status.observed_generation != deployment.generation:
        yield f"{deployment.ref} is not reconciled yet"
    elif app.status is None:
        yield f"{app.ref} has no status"
    elif app.status.observed_generation != app.generation:
        yield f"{app.ref} is at {app.status.observed_generation}, not {app.generation}"
    else:
        yield from _status_flaws(app, app.status, deployment, status)


def _status_flaws(
    app: AppService,
    said: apps_v1.DeploymentStatus,
    deployment: apps_v1.Deployment,
    status: apps_v1.DeploymentStatus,
) -> Iterator[str]:
    for count in COUNTS:
        if getattr(said, count) != getattr(status, count):
            yield f"{app.ref} says {getattr(said, count)} {count}, not {getattr(status, count)}"
    is_ready = sm.is_ready(deployment)
    wanted = {each.type: (each.status, each.reason) for each in status.conditions or ()}
    wanted["Ready"] = ("True", "RolledOut") if is_ready else ("False", "RollingOut")
    conditions = {each.type: (each.status, each.reason) for each in said.conditions or ()}
    if conditions != wanted:
        yield f"{app.ref} says {conditions}, not {wanted}"
    # No kubelet runs Pods here.
    if is_ready != (app.spec.size == 0):
        yield f"{deployment.ref} of size {app.spec.size} is {'' if is_ready else 'not '}ready"


def _service_flaws(app: AppService, service: core_v1.Service) -> Iterator[str]:
    spec = service.spec
    assert spec is not None
    if spec.type != "NodePort":
        yield f"{service.ref} is a {spec.type}"
    ports = [each.port for each in spec.ports or ()]
    if ports != [each.port for each in app.spec.ports]:
        yield f"{service.ref} has the ports {ports}"
    if not all(each.node_port for each in spec.ports or ()):
        yield f"{service.ref} has no port on the nodes"
