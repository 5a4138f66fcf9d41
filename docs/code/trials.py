"""Trial: an image that runs for a while, and then no more."""

from datetime import timedelta
from typing import Annotated

import steersman as sm
from steersman import recipes
from steersman.kinds import apps_v1, core_v1


class Spec(sm.Part):
    image: str
    minutes: Annotated[int, sm.Rule(ge=1)] = 60


class Status(sm.Part):
    conditions: tuple[sm.Condition, ...] = ()


class Trial(sm.CustomResource[Spec, Status], group="shop.example.com", version="v1"):
    """An image that runs for a while."""


async def reconcile(trial: Trial, ctx: sm.Context) -> sm.Outcome:
    ends_time = (trial.metadata.creation_timestamp or ctx.now) + timedelta(
        minutes=trial.spec.minutes
    )
    left_seconds = (ends_time - ctx.now).total_seconds()
    container = core_v1.Container(name="main", image=trial.spec.image)
    deployment = await ctx.apply_owned(
        recipes.deployment(trial.name, container, replicas=1 if left_seconds > 0 else 0)
    )
    ready = sm.Condition.when(
        left_seconds > 0 and sm.is_ready(deployment), "Ready", yes="Running", no="NotRunning"
    )
    await ctx.apply_status(trial, Status(conditions=(ready,)))
    return sm.Later(after_seconds=left_seconds) if left_seconds > 0 else sm.Done()


controller = sm.Controller(Trial, reconcile=reconcile, owns=(apps_v1.Deployment,))
