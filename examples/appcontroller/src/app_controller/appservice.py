"""AppService: keeps a Deployment of nginx with a given name, and corrects drift."""

from collections.abc import Iterable
from typing import Annotated

import steersman as sm
from steersman import changed, recipes
from steersman.errors import NotOurs
from steersman.kinds import apps_v1, core_v1

# An AppService has no image. As in Kubernetes' sample-controller, its Deployment runs nginx.
NGINX = core_v1.Container(name="nginx", image="nginx:latest")


class Spec(sm.Part):
    """The desired state."""

    deployment_name: Annotated[
        str, sm.Rule(min_length=1, max_length=63, pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    ]
    """The name of the Deployment; a new name replaces the Deployment."""

    replicas: Annotated[int | None, sm.Rule(ge=0)] = None
    """The number of Pods; if unset, other clients or an autoscaler can scale the Deployment."""


class Status(sm.Part):
    """The observed state."""

    available_replicas: int = 0
    """The number of available Pods."""

    observed_generation: int | None = None
    conditions: tuple[sm.Condition, ...] = ()


class AppService(
    sm.CustomResource[Spec, Status],
    group="appcontroller.k8s.io",
    version="v1alpha1",
    # The API server requires an approval for a CRD whose group ends in k8s.io.
    crd=sm.Crd(approved="unapproved, an example only"),
):
    """Keeps a Deployment of nginx with a given name."""


async def reconcile(app: AppService, ctx: sm.Context) -> sm.Outcome:
    """Apply the desired state of ``app``; the controller calls this after each change."""
    wanted = recipes.deployment(app.spec.deployment_name, NGINX, replicas=app.spec.replicas)
    try:
        deployment = await ctx.apply_owned(wanted)
    except NotOurs as taken:
        return await refuse(app, taken, ctx)
    ready = sm.Condition.when(sm.is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut")
    if ready.is_true:
        # Not before: the old Deployment must serve until the new one is ready.
        await ctx.prune(apps_v1.Deployment)
        if not sm.is_ready(app):
            ctx.record("Synced", f"Deployment {deployment.name} is up to date")
    await ctx.apply_status(
        app, Status(available_replicas=available([deployment]), conditions=(ready,))
    )
    return sm.Done() if ready.is_true else sm.Later()


async def refuse(app: AppService, taken: NotOurs, ctx: sm.Context) -> sm.Outcome:
    """Report that another owner has the Deployment, and change nothing.

    The controller calls ``reconcile`` again when that Deployment is deleted.
    """
    owner = taken.actual_controller
    whose = f"belongs to {owner}" if owner else "is not managed by this operator"
    note = (
        f"{taken.wanted} already exists and {whose}: set spec.deploymentName to a free name, or"
        f" delete that Deployment"
    )
    ctx.record("ErrResourceExists", note, type="Warning")
    ready = sm.Condition.false("Ready", reason="ErrResourceExists", message=note)
    running = available(ctx.owned(apps_v1.Deployment))
    await ctx.apply_status(app, Status(available_replicas=running, conditions=(ready,)))
    return sm.Later()


def available(deployments: Iterable[apps_v1.Deployment]) -> int:
    """The number of available Pods of these Deployments."""
    return sum((each.status and each.status.available_replicas) or 0 for each in deployments)


controller = sm.Controller(
    AppService,
    reconcile=reconcile,
    owns=(sm.Owns(apps_v1.Deployment, verbs=("create", "patch", "delete")),),
    when=changed.generation,
    condition="Ready",
)
manager = sm.Manager(controllers=[controller])
