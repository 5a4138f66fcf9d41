"""Login: a password that is generated once, and replaced on request."""

import steersman as sm
from steersman import recipes
from steersman.client import MergePatch
from steersman.kinds import core_v1

ROTATION = "logins.example.com/rotation"
PASSWORD_BYTES = 24


class Spec(sm.Part):
    """The desired state."""

    rotation: int = 0
    """A new number requests a new password."""


class Status(sm.Part):
    """The observed state."""

    secret_name: str | None = None
    observed_generation: int | None = None
    conditions: tuple[sm.Condition, ...] = ()


class Login(sm.CustomResource[Spec, Status], group="logins.example.com", version="v1"):
    """A user name and a password, in a Secret."""


async def reconcile(login: Login, ctx: sm.Context) -> sm.Outcome:
    """Create a Secret with a password, or replace the password of another rotation."""
    name = f"{login.name}-credentials"
    wanted = str(login.spec.rotation)
    there = ctx.get(core_v1.Secret, name)
    if there is None:
        fresh = recipes.secret(
            name,
            {"username": login.name, "password": ctx.token(PASSWORD_BYTES)},
            annotations={ROTATION: wanted},
        )
        # Create, do not apply: each apply would write another password.
        await ctx.create_owned(fresh)
    elif there.annotations.get(ROTATION) != wanted:
        # One write, so after a crash the Secret contains the old password or the new one.
        change = {
            "metadata": {"annotations": {ROTATION: wanted}},
            "stringData": {"password": ctx.token(PASSWORD_BYTES)},
        }
        await ctx.patch(there, MergePatch(change))
    ready = sm.Condition.true("Ready", reason="Generated")
    return sm.Done(status=Status(secret_name=name, conditions=(ready,)))


controller = sm.Controller(Login, reconcile=reconcile, owns=(core_v1.Secret,), condition="Ready")
