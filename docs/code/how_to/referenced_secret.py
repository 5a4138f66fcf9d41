"""Site: a web server that reads a Secret of a user."""

from collections.abc import Iterable

import steersman as sm
from steersman import recipes
from steersman.kinds import apps_v1, core_v1


class Spec(sm.Part):
    """The desired state."""

    image: str
    credentials: str
    """The name of a Secret with the key password, in the same namespace."""


class Status(sm.Part):
    """The observed state."""

    observed_generation: int | None = None
    conditions: tuple[sm.Condition, ...] = ()


class Site(sm.CustomResource[Spec, Status], group="sites.example.com", version="v1"):
    """A web server with a password."""


def sites_of(secret: core_v1.Secret, cached: sm.CacheReader) -> Iterable[Site]:
    """The Sites that refer to this Secret."""
    sites = cached.list(Site, namespace=secret.namespace)
    return [site for site in sites if site.spec.credentials == secret.name]


async def reconcile(site: Site, ctx: sm.Context) -> sm.Outcome:
    """Run the web server with the current password."""
    secret = ctx.get(core_v1.Secret, site.spec.credentials)
    if secret is None or "password" not in (secret.data or {}):
        note = f"Secret {site.namespace}/{site.spec.credentials} with the key password is missing"
        missing = sm.Condition.false("Ready", reason="SecretMissing", message=note)
        return sm.Later(
            status=Status(conditions=(missing,))
        )  # the creation of the Secret triggers a reconcile
    password = core_v1.EnvVarSource(
        secret_key_ref=core_v1.SecretKeySelector(name=secret.name, key="password")
    )
    container = core_v1.Container(
        name="main",
        image=site.spec.image,
        env=(core_v1.EnvVar(name="PASSWORD", value_from=password),),
    )
    # A Pod reads the variable when it starts. With the version of the Secret in the template, a
    # change of the Secret starts a rollout; the version does not reveal the password.
    version = {"sites.example.com/secret-version": secret.metadata.resource_version or ""}
    deployment = await ctx.apply_owned(
        recipes.deployment(site.name, container, pod_annotations=version)
    )
    ready = sm.Condition.when(sm.is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut")
    status = Status(conditions=(ready,))
    return sm.Done(status=status) if ready.is_true else sm.Later(status=status)


controller = sm.Controller(
    Site,
    reconcile=reconcile,
    owns=(apps_v1.Deployment,),
    watches=(sm.Watch(core_v1.Secret, to=sites_of),),
    condition="Ready",
)
