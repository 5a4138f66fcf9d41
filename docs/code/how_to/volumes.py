"""Database: a StatefulSet whose volumes grow."""

from typing import Annotated

import steersman as sm
from steersman import recipes
from steersman.client import MergePatch
from steersman.kinds import apps_v1, core_v1
from steersman.units import Quantity


class Spec(sm.Part):
    """The desired state."""

    replicas: Annotated[int, sm.Rule(ge=1)] = 1
    storage_gi: Annotated[
        int,
        sm.Rule(ge=1),
        sm.Cel("self >= oldSelf", "a volume cannot shrink"),
    ] = 1
    """The size of each volume, in GiB."""


class Status(sm.Part):
    """The observed state."""

    observed_generation: int | None = None
    conditions: tuple[sm.Condition, ...] = ()


class Database(sm.CustomResource[Spec, Status], group="data.example.com", version="v1"):
    """A database, each of whose Pods has a volume."""


def size_of(claim: core_v1.PersistentVolumeClaim) -> Quantity:
    """What was asked for."""
    resources = claim.spec.resources if claim.spec else None
    return ((resources.requests if resources else None) or {}).get("storage", Quantity("0"))


def has_grown(claim: core_v1.PersistentVolumeClaim, wanted: Quantity) -> bool:
    """Whether the volume behind it has the size, which its driver says in the status."""
    capacity = (claim.status.capacity if claim.status else None) or {}
    return not capacity.get("storage", Quantity("0")) < wanted


async def reconcile(database: Database, ctx: sm.Context) -> sm.Outcome:
    """Run the Pods, and have each volume as large as is wanted."""
    wanted = Quantity(f"{database.spec.storage_gi}Gi")
    # The template of a StatefulSet cannot be changed: it keeps the size that it was made with, and
    # the claims that come from it are changed one by one.
    there = ctx.get(apps_v1.StatefulSet, database.name)
    templates = there.spec.volume_claim_templates if there and there.spec else None
    template = recipes.pvc("data", size_of(templates[0]) if templates else wanted)
    container = core_v1.Container(name="main", image="postgres:17")
    made = await ctx.apply_owned(
        recipes.stateful_set(
            database.name, container, replicas=database.spec.replicas, claims=(template,)
        )
    )
    claims = [
        claim
        for number in range(database.spec.replicas)
        if (claim := ctx.get(core_v1.PersistentVolumeClaim, f"data-{database.name}-{number}"))
    ]
    for claim in claims:
        if size_of(claim) < wanted:
            requests = {"storage": str(wanted)}
            await ctx.patch(claim, MergePatch({"spec": {"resources": {"requests": requests}}}))
    grown = all(has_grown(claim, wanted) for claim in claims)
    ready = sm.Condition.when(
        grown and sm.is_ready(made), "Ready", yes="Running", no="Starting" if grown else "Resizing"
    )
    status = Status(conditions=(ready,))
    return sm.Done(status=status) if ready.is_true else sm.Later(status=status)


def database_of(claim: core_v1.PersistentVolumeClaim, cached: sm.CacheReader) -> list[Database]:
    """The Database to whose StatefulSet the claim belongs: data-NAME-NUMBER."""
    name = claim.name.removeprefix("data-").rpartition("-")[0]
    found = cached.get(Database, name, namespace=claim.namespace)
    return [found] if found else []


controller = sm.Controller(
    Database,
    reconcile=reconcile,
    owns=(apps_v1.StatefulSet,),
    watches=(sm.Watch(core_v1.PersistentVolumeClaim, to=database_of),),
    writes=(sm.Writes(core_v1.PersistentVolumeClaim, verbs=("patch",)),),
    condition="Ready",
)
