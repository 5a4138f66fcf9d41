"""Owner references: dependents, which are deleted with their owner."""

import steersman as sm
from steersman import recipes
from steersman.kinds import core_v1


class Spec(sm.Part):
    """The desired state."""

    ports: tuple[int, ...] = ()


class Door(sm.CustomResource[Spec, sm.Part], group="net.example.com", version="v1"):
    """A Service for each port."""


async def reconcile(door: Door, ctx: sm.Context) -> sm.Outcome:
    for port in door.spec.ports:
        service = recipes.service(f"{door.name}-{port}", (core_v1.ServicePort(port=port),))
        await ctx.apply_owned(service)
    await ctx.prune(core_v1.Service)  # deletes owned Services that this reconcile did not apply
    return sm.Done()


controller = sm.Controller(
    Door,
    reconcile=reconcile,
    owns=(sm.Owns(core_v1.Service, verbs=("create", "patch", "delete")),),
)
