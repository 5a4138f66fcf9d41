"""A kind that is owned and watched: a Secret that is generated, and one that is referred to."""

from collections.abc import Iterable

import steersman as sm
from steersman.kinds import core_v1, meta_v1


class Spec(sm.Part):
    """The desired state."""

    credentials: str
    """The name of the Secret with the password."""


class Login(sm.CustomResource[Spec, sm.Part], group="hello.example.com", version="v1"):
    """Credentials in the form that a client reads, kept up to date with a Secret."""


def logins_of(secret: core_v1.Secret, cached: sm.CacheReader) -> Iterable[Login]:
    """The Logins that refer to this Secret."""
    logins = cached.list(Login, namespace=secret.namespace)
    return [login for login in logins if login.spec.credentials == secret.name]


async def reconcile(login: Login, ctx: sm.Context) -> sm.Outcome:
    source = ctx.get(core_v1.Secret, login.spec.credentials)
    if source is None:
        return sm.Later()  # the creation of the Secret triggers a reconcile
    metadata = meta_v1.ObjectMeta(name=f"{login.name}-login")
    await ctx.apply_owned(core_v1.Secret(metadata=metadata, data=source.data))
    return sm.Done()


controller = sm.Controller(
    Login,
    reconcile=reconcile,
    owns=(core_v1.Secret,),
    watches=(sm.Watch(core_v1.Secret, to=logins_of),),
)
