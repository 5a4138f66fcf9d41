"""AppService: runs an image in a Deployment, and exposes it on a port of every node."""

from collections.abc import Iterable
from typing import Annotated, TypeAlias

import steersman as sm
from steersman import changed, recipes
from steersman.kinds import apps_v1, core_v1


class Spec(sm.Part):
    """The desired state."""

    size: Annotated[int, sm.Rule(ge=0)] = 1
    """The number of Pods."""

    image: Annotated[str, sm.Rule(min_length=1, example="nginx:1.7.9")]
    """The image of the container."""

    resources: core_v1.ResourceRequirements | None = None
    """The resources of each Pod."""

    envs: tuple[core_v1.EnvVar, ...] = ()  # a default is a value, and is always sent
    """The environment variables of the container."""

    ports: Annotated[
        tuple[core_v1.ServicePort, ...],
        sm.Rule(min_length=1, example=[{"port": 80, "targetPort": 80}]),
    ]
    """The ports of the Service."""


class Status(apps_v1.DeploymentStatus):
    """The Deployment's status, inlined."""


# Any kind with this spec and this status. The functions below work with all of them.
App: TypeAlias = sm.CustomResource[Spec, Status]

CEL = (
    sm.Cel(
        "self.metadata.name.size() <= 63 && !self.metadata.name.contains('.')",
        message="the name is also the name of a Service: use at most 63 characters, and no dots",
    ),
)

CRD = sm.Crd(
    columns=(
        sm.Column("Size", ".spec.size"),
        sm.Column("Available", ".status.availableReplicas"),
        sm.Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        sm.Column("Reason", '.status.conditions[?(@.type=="Ready")].reason'),
        sm.Column("Age", ".metadata.creationTimestamp"),
    ),
    scale=sm.ScalePaths(spec=".spec.size", status=".status.replicas"),
)


class AppService(
    sm.CustomResource[Spec, Status], group="app.example.com", version="v1", crd=CRD, validations=CEL
):
    """Runs an image in a Deployment, and exposes it on a port of every node."""


def container_of(app: App) -> core_v1.Container:
    """The container of each Pod."""
    return core_v1.Container(
        name=app.name,
        image=app.spec.image,
        image_pull_policy="IfNotPresent",
        env=app.spec.envs,
        resources=app.spec.resources,
        ports=targets_of(app.spec.ports),
    )


def targets_of(ports: Iterable[core_v1.ServicePort]) -> tuple[core_v1.ContainerPort, ...]:
    """The container ports for the ports of a Service, without duplicates.

    A named target port gets the number of the first Service port that has this name as its target.
    """
    named: dict[tuple[str, str], int] = {}
    found: dict[tuple[int, str], str | None] = {}
    for port in ports:
        protocol = port.protocol or "TCP"
        target = port.target_port or port.port
        if isinstance(target, str):
            found[named.setdefault((target, protocol), port.port), protocol] = target
        else:
            found.setdefault((target, protocol))
    return tuple(
        core_v1.ContainerPort(container_port=number, protocol=protocol, name=name)
        for (number, protocol), name in found.items()
    )


async def reconcile(app: App, ctx: sm.Context) -> sm.Outcome:
    """Apply the desired state of ``app``; the controller calls this after each change."""
    deployment = await ctx.apply_owned(
        recipes.deployment(app.name, container_of(app), replicas=app.spec.size)
    )
    await ctx.apply_owned(recipes.service(app.name, app.spec.ports, type="NodePort"))
    ready = sm.Condition.when(sm.is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut")
    status = Status.inlining(deployment.status).with_condition(ready)
    return sm.Done(status=status) if ready.is_true else sm.Later(status=status)


controller = sm.Controller(
    AppService,
    reconcile=reconcile,
    owns=(apps_v1.Deployment, core_v1.Service),
    when=changed.generation,
    condition="Ready",
)
