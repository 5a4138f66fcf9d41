"""AppService: a Deployment under a name of one's choice, corrected when it drifts."""

from collections.abc import Iterable
from typing import Annotated

import steersman as sm
from steersman import changed, recipes
from steersman.errors import NotOurs
from steersman.kinds import apps_v1, core_v1

# An AppService says how many and under which name, and not of what: as Kubernetes'
# sample-controller does, we run this.
NGINX = core_v1.Container(name="nginx", image="nginx:latest")


class Spec(sm.Part):
    """What is wanted."""

    deployment_name: Annotated[
        str, sm.Rule(min_length=1, max_length=63, pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    ]
    """What the Deployment is called; when it is changed, a new one takes the place of the old."""

    replicas: Annotated[int | None, sm.Rule(ge=0)] = None
    """How many Pods it has; without it, that is left to whoever scales the Deployment."""


class Status(sm.Part):
    """What has become of it."""

    available_replicas: int = 0
    """How many Pods do their work."""

    observed_generation: int | None = None
    conditions: tuple[sm.Condition, ...] = ()


class AppService(
    sm.CustomResource[Spec, Status],
    group="appcontroller.k8s.io",
    version="v1alpha1",
    # Groups under k8s.io belong to Kubernetes: whoever defines a kind there says who approved it.
    crd=sm.Crd(approved="unapproved, an example only"),
):
    """A Deployment of nginx under a name of one's choice."""


async def reconcile(app: AppService, ctx: sm.Context) -> sm.Outcome:
    """Say what should be there for ``app``; called whenever that may not be so."""
    wanted = recipes.deployment(app.spec.deployment_name, NGINX, replicas=app.spec.replicas)
    try:
        deployment = await ctx.apply_owned(wanted)
    except NotOurs as taken:
        return await refuse(app, taken, ctx)
    ready = sm.Condition.when(sm.is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut")
    if ready.is_true:
        # Not before: while a new name rolls out, what has the old one does the work.
        await ctx.prune(apps_v1.Deployment)
        if not sm.is_ready(app):
            ctx.record("Synced", f"Deployment {deployment.name} is as it should be")
    await ctx.apply_status(
        app, Status(available_replicas=available([deployment]), conditions=(ready,))
    )
    return sm.Done() if ready.is_true else sm.Later()


async def refuse(app: AppService, taken: NotOurs, ctx: sm.Context) -> sm.Outcome:
    """Leave a Deployment alone that is not ours, and say what can be done about it.

    When it is gone, ``reconcile`` is called: whoever was refused something is told.
    """
    owner = taken.actual_controller
    whose = f"belongs to {owner}" if owner else "was made by somebody else"
    note = (
        f"{taken.wanted} is there already and {whose}: set spec.deploymentName to a name that is"
        f" free, or delete that Deployment"
    )
    ctx.record("ErrResourceExists", note, type="Warning")
    ready = sm.Condition.false("Ready", reason="ErrResourceExists", message=note)
    running = available(ctx.owned(apps_v1.Deployment))
    await ctx.apply_status(app, Status(available_replicas=running, conditions=(ready,)))
    return sm.Later()


def available(deployments: Iterable[apps_v1.Deployment]) -> int:
    """How many Pods of these do their work."""
    return sum((each.status and each.status.available_replicas) or 0 for each in deployments)


controller = sm.Controller(
    AppService,
    reconcile=reconcile,
    owns=(sm.Owns(apps_v1.Deployment, verbs=("create", "patch", "delete")),),
    when=changed.generation,
    condition="Ready",
)
manager = sm.Manager(controllers=[controller])
