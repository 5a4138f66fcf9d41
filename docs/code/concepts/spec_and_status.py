"""Spec is written by people, status by the controller; each says which spec it is about."""

from typing import Annotated

import steersman as sm
from steersman import changed


class Spec(sm.Part):
    """What is wanted."""

    degrees: Annotated[int, sm.Rule(ge=5, le=30)]


class Status(sm.Part):
    """What was seen."""

    observed_generation: int | None = None
    degrees: int | None = None
    conditions: tuple[sm.Condition, ...] = ()


class Room(sm.CustomResource[Spec, Status], group="house.example.com", version="v1"):
    """A room that is to be warm."""


class Heating:
    """The world outside of the cluster."""

    def __init__(self) -> None:
        self.degrees = 15

    async def step(self, towards: int) -> int:
        """Come a degree nearer."""
        self.degrees += (towards > self.degrees) - (towards < self.degrees)
        return self.degrees


def controller(heating: Heating) -> sm.Controller[Room]:
    async def reconcile(room: Room, ctx: sm.Context) -> sm.Outcome:
        degrees = await heating.step(towards=room.spec.degrees)
        warm = sm.Condition.when(
            degrees == room.spec.degrees, "Warm", yes="AsWanted", no="OnTheWay"
        )
        await ctx.apply_status(room, Status(degrees=degrees, conditions=(warm,)))
        return sm.Done() if warm.is_true else sm.Later(after_seconds=60)

    return sm.Controller(Room, reconcile=reconcile, when=changed.generation)
