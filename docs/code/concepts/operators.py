"""An operator that removes a member from the database before its Pod is deleted."""

from typing import Annotated, Protocol

import steersman as sm
from steersman import recipes
from steersman.kinds import apps_v1, core_v1


class Spec(sm.Part):
    """The desired state."""

    members: Annotated[int, sm.Rule(ge=1)]


class Status(sm.Part):
    """The observed state."""

    members: int = 0


class Quorum(sm.CustomResource[Spec, Status], group="db.example.com", version="v1"):
    """A database of several members that vote."""


class Database(Protocol):
    """The administration interface of the database, such as ``etcdctl member``."""

    async def members(self) -> list[str]: ...
    async def leave(self, member: str) -> None: ...


def controller(database: Database) -> sm.Controller[Quorum]:
    """Return the controller of Quorums, with a client of the database."""

    async def reconcile(quorum: Quorum, ctx: sm.Context) -> sm.Outcome:
        for member in await database.members():
            if int(member.rpartition("-")[2]) >= quorum.spec.members:
                await database.leave(member)  # before its Pod is deleted; otherwise a vote is lost
        container = core_v1.Container(name="db", image="db:3")
        wanted = recipes.stateful_set(quorum.name, container, replicas=quorum.spec.members)
        found = await ctx.apply_owned(wanted)
        running = found.status.ready_replicas or 0 if found.status is not None else 0
        await ctx.apply_status(quorum, Status(members=running))
        return sm.Done() if running == quorum.spec.members else sm.Later()

    return sm.Controller(Quorum, reconcile=reconcile, owns=(apps_v1.StatefulSet,))
