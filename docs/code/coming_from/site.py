"""Site: an image kept running, restarted when its ConfigMap changes, with a record in a zone.

python docs/code/coming_from/site.py --kubeconfig FILE
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Annotated

import steersman as sm
from steersman import changed, recipes
from steersman.kinds import apps_v1, core_v1

ZONE = "zone"  # the namespace of all records, whatever the namespace of a Site


class Spec(sm.Part):
    """The desired state."""

    image: Annotated[str, sm.Rule(min_length=1)]
    replicas: Annotated[int, sm.Rule(ge=0)] = 1

    config: str
    """The ConfigMap from which its environment is made."""


class Status(sm.Part):
    """The observed state."""

    observed_generation: int | None = None
    conditions: tuple[sm.Condition, ...] = ()


class Site(sm.CustomResource[Spec, Status], group="web.example.com", version="v1"):
    """An image kept running, with its environment from a ConfigMap."""


async def reconcile(site: Site, ctx: sm.Context) -> sm.Outcome:
    config = ctx.get(core_v1.ConfigMap, site.spec.config)
    if config is None:
        note = f"There is no ConfigMap {site.spec.config}: create it, or name another."
        ctx.record("ConfigMissing", note, type="Warning")
        missing = sm.Condition.false("Ready", reason="ConfigMissing", message=note)
        return sm.Later(status=Status(conditions=(missing,)), after_seconds=5)

    await ctx.apply(record_of(site))
    deployment = await ctx.apply_owned(deployment_of(site, config))
    ready = sm.Condition.when(sm.is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut")
    status = Status(conditions=(ready,))
    return sm.Done(status=status) if ready.is_true else sm.Later(status=status)


async def finalize(site: Site, ctx: sm.Context) -> sm.Outcome:
    await ctx.delete(record_of(site))
    return sm.Done()


def deployment_of(site: Site, config: core_v1.ConfigMap) -> apps_v1.Deployment:
    source = core_v1.EnvFromSource(config_map_ref=core_v1.ConfigMapEnvSource(name=config.name))
    container = core_v1.Container(name="site", image=site.spec.image, env_from=(source,))
    digest = sha256(repr(sorted((config.data or {}).items())).encode()).hexdigest()
    return recipes.deployment(
        site.name,
        container,
        replicas=site.spec.replicas,
        pod_annotations={"web.example.com/config": digest},
    )


def record_of(site: Site) -> core_v1.ConfigMap:
    name = f"{site.namespace}.{site.name}"
    return recipes.config_map(name, {"target": site.name}, namespace=ZONE)


def sites_using(config: core_v1.ConfigMap, cached: sm.CacheReader) -> Iterable[Site]:
    return cached.by_index(Site, "config", f"{config.namespace}/{config.name}")


controller = sm.Controller(
    Site,
    reconcile=reconcile,
    finalize=finalize,
    condition="Ready",
    when=changed.generation,
    owns=(apps_v1.Deployment,),
    watches=(sm.Watch(core_v1.ConfigMap, to=sites_using),),
    writes=(sm.Writes(core_v1.ConfigMap, verbs=("create", "patch", "delete")),),
    indexes={"config": lambda site: [f"{site.namespace}/{site.spec.config}"]},
)

manager = sm.Manager(controllers=[controller])

if __name__ == "__main__":
    manager.run()
