"""A reconcile function: it applies the desired state, regardless of what has changed."""

import steersman as sm
from steersman import recipes
from steersman.kinds import core_v1


class Spec(sm.Part):
    """The desired state."""

    name: str


class Status(sm.Part):
    """The observed state."""

    observed_generation: int | None = None
    message: str = ""


class Greeting(sm.CustomResource[Spec, Status], group="hello.example.com", version="v1"):
    """A greeting for a person."""


async def reconcile(greeting: Greeting, ctx: sm.Context) -> sm.Outcome:
    if not greeting.spec.name:
        raise sm.Permanent("spec.name is empty: set it")
    message = f"Hello, {greeting.spec.name}!"
    await ctx.apply_owned(recipes.config_map(greeting.name, {"message": message}))
    await ctx.apply_status(greeting, Status(message=message))
    return sm.Done()


controller = sm.Controller(Greeting, reconcile=reconcile, owns=(core_v1.ConfigMap,))
