"""AppService: keep an image running, and reachable on a port of every node."""

from collections.abc import Iterable
from typing import Annotated, TypeAlias

import steersman as sm
from steersman import changed, recipes
from steersman.kinds import apps_v1, core_v1


class Spec(sm.Part):
    """What is to run, how many times, and where it is reached."""

    size: Annotated[int, sm.Rule(ge=0)] = 1
    """How many Pods run it."""

    image: Annotated[str, sm.Rule(min_length=1, example="nginx:1.7.9")]
    """What runs."""

    resources: core_v1.ResourceRequirements | None = None
    """What each Pod is given to run with."""

    envs: tuple[core_v1.EnvVar, ...] = ()  # a default is a real value: always sent
    """The environment in which it runs."""

    ports: Annotated[
        tuple[core_v1.ServicePort, ...],
        sm.Rule(min_length=1, example=[{"port": 80, "targetPort": 80}]),
    ]
    """Where it is reached; each leads to the port of the Pods that is its target."""


class Status(apps_v1.DeploymentStatus):
    """The Deployment's status, inlined."""


# What the Deployment and the Service are made from: any kind with this spec and this status.
App: TypeAlias = sm.CustomResource[Spec, Status]

RULES = (
    sm.Cel(
        "self.metadata.name.size() <= 63 && !self.metadata.name.contains('.')",
        message="a Service gets this name, so it has 63 characters at most, and no dots",
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
    sm.CustomResource[Spec, Status], group="app.example.com", version="v1", crd=CRD, rules=RULES
):
    """An image kept running at a given size, reachable on a port of every node."""


def container_of(app: App) -> core_v1.Container:
    """What runs in each Pod."""
    return core_v1.Container(
        name=app.name,
        image=app.spec.image,
        image_pull_policy="IfNotPresent",
        env=app.spec.envs,
        resources=app.spec.resources,
        ports=targets_of(app.spec.ports),
    )


def targets_of(ports: Iterable[core_v1.ServicePort]) -> tuple[core_v1.ContainerPort, ...]:
    """The ports of a container to which those of its Service lead, each once.

    A target that is a name stands for the same number as the first of the Service's ports with it.
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
    """Say what should be there for ``app``; called whenever that may not be so."""
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
