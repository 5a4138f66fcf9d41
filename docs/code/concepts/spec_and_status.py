"""A kind with spec and status: users write the spec, and the controller writes the status."""

from typing import Annotated

import steersman as sm
from steersman import changed


class Spec(sm.Part):
    """The desired state."""

    degrees: Annotated[int, sm.Rule(ge=5, le=30)]


class Status(sm.Part):
    """The observed state."""

    observed_generation: int | None = None
    degrees: int | None = None
    conditions: tuple[sm.Condition, ...] = ()


class Thermostat(sm.CustomResource[Spec, Status], group="house.example.com", version="v1"):
    """A thermostat of one room."""


class Heating:
    """The heating, an external system."""

    def __init__(self) -> None:
        self.degrees = 15

    async def step(self, toward: int) -> int:
        """Change the temperature by one degree."""
        self.degrees += (toward > self.degrees) - (toward < self.degrees)
        return self.degrees


def controller(heating: Heating) -> sm.Controller[Thermostat]:
    async def reconcile(thermostat: Thermostat, ctx: sm.Context) -> sm.Outcome:
        degrees = await heating.step(toward=thermostat.spec.degrees)
        warm = sm.Condition.when(
            degrees == thermostat.spec.degrees, "Warm", yes="AsWanted", no="StillChanging"
        )
        await ctx.apply_status(thermostat, Status(degrees=degrees, conditions=(warm,)))
        return sm.Done() if warm.is_true else sm.Later(after_seconds=60)

    return sm.Controller(Thermostat, reconcile=reconcile, when=changed.generation)
