"""Small operators, each with a mistake that only a crash at the right moment shows, and mended.

A ``Site`` is a bucket beyond the cluster, and a ConfigMap that says where it is.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import steersman as sm
from steersman.client import MergePatch
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman_cluster.simulation import Cluster, Scenario
from steersman_cluster.workloads import WorkloadSettings

FINALIZER: Final = "sites.example.com/bucket"

# What is made there is no workload, but must go with its owner.
SETTINGS: Final = WorkloadSettings(parts=("garbagecollector",))


class SiteSpec(sm.Part):
    """What is asked for."""

    title: str


class SiteStatus(sm.Part):
    """What has become of it."""

    config: str | None = None
    phase: str | None = None


class Site(sm.CustomResource[SiteSpec, SiteStatus], group="sites.example.com", version="v1"):
    """A bucket, and a ConfigMap that says where it is."""


class Buckets:
    """A service beyond the cluster."""

    def __init__(self) -> None:
        self.titles: dict[str, str] = {}

    async def put(self, name: str, title: str) -> None:
        """Have a bucket of this name and title."""
        self.titles[name] = title

    async def remove(self, name: str) -> None:
        """Have none; it is fine if there was none."""
        self.titles.pop(name, None)


def config_map(site: Site, **metadata: Any) -> core_v1.ConfigMap:
    """What says where the site is."""
    return core_v1.ConfigMap(
        metadata=meta_v1.ObjectMeta(**metadata), data={"title": site.spec.title}
    )


# A child created with a random name


async def random_name(site: Site, ctx: sm.Context) -> sm.Outcome:
    """Wrong: after a crash before the name is in the status, it creates another one."""
    if site.status is None or site.status.config is None:
        child = await ctx.create_owned(config_map(site, generate_name=f"{site.name}-"))
        await ctx.apply_status(site, SiteStatus(config=child.name))
    return sm.Done()


async def own_name(site: Site, ctx: sm.Context) -> sm.Outcome:
    """Right: the name says which it is."""
    child = await ctx.apply_owned(config_map(site, name=site.name))
    await ctx.apply_status(site, SiteStatus(config=child.name))
    return sm.Done()


# A finalizer removed before the cleanup


class Finalizing:
    """Puts a finalizer of its own on sites, and takes it off."""

    def __init__(self, buckets: Buckets, *, cleans_up_first: bool) -> None:
        self._buckets = buckets
        self._cleans_up_first = cleans_up_first

    async def reconcile(self, site: Site, ctx: sm.Context) -> sm.Outcome:
        """Have a bucket while there is a site."""
        if site.deletion_time is None:
            if FINALIZER not in (site.metadata.finalizers or ()):
                await ctx.patch(site, MergePatch({"metadata": {"finalizers": [FINALIZER]}}))
            await self._buckets.put(site.name, site.spec.title)
        elif self._cleans_up_first:
            await self._buckets.remove(site.name)
            await ctx.patch(site, MergePatch({"metadata": {"finalizers": None}}))
        else:
            # Wrong: with the last finalizer the site goes, and after a crash here it knows of none.
            await ctx.patch(site, MergePatch({"metadata": {"finalizers": None}}))
            await self._buckets.remove(site.name)
        return sm.Done()


# Status written before the work


class Reporting:
    """Says in the status that the bucket is there."""

    def __init__(self, buckets: Buckets, *, works_first: bool) -> None:
        self._buckets = buckets
        self._works_first = works_first

    async def reconcile(self, site: Site, ctx: sm.Context) -> sm.Outcome:
        """Have a bucket, and say so."""
        done = SiteStatus(phase=f"Published {site.spec.title}")
        if site.status is not None and site.status.phase == done.phase:
            return sm.Done()
        if self._works_first:
            await self._buckets.put(site.name, site.spec.title)
            await ctx.apply_status(site, done)
        else:
            # Wrong: after a crash here it believes for ever that the bucket is there.
            await ctx.apply_status(site, done)
            await self._buckets.put(site.name, site.spec.title)
        return sm.Done()


# What they have in common


def site(title: str = "first") -> Site:
    """What a person would apply."""
    return Site(metadata=meta_v1.ObjectMeta(name="home"), spec=SiteSpec(title=title))


async def life_of_a_site(cluster: Cluster) -> None:
    """It is made, changed and deleted."""
    await cluster.apply(site())
    await cluster.settle()
    await cluster.apply(site("second"))
    await cluster.settle()
    await cluster.delete(Site, "home")
    await cluster.settle()


def naming(reconcile: Callable[[Site, sm.Context], Awaitable[sm.Outcome]], **rest: Any) -> Scenario:
    """The life of a site whose operator makes a ConfigMap."""
    controller = sm.Controller(
        Site, reconcile=reconcile, owns=(core_v1.ConfigMap,), writes=(core_v1.ConfigMap,)
    )
    return Scenario(
        operator=lambda: [controller],
        kinds=[Site],
        steps=life_of_a_site,
        workloads=SETTINGS,
        **rest,
    )


def finalizing(*, cleans_up_first: bool) -> Scenario:
    """The life of a site with a finalizer."""

    def operator(buckets: Buckets) -> Sequence[sm.Controller[Site]]:
        reconcile = Finalizing(buckets, cleans_up_first=cleans_up_first).reconcile
        return [sm.Controller(Site, reconcile=reconcile, writes=(Site,), while_deleting=True)]

    return Scenario(
        operator=operator, outside=Buckets, kinds=[Site], steps=life_of_a_site, workloads=SETTINGS
    )


def reporting(*, works_first: bool) -> Scenario:
    """The life of a site that says how far it is."""

    def operator(buckets: Buckets) -> Sequence[sm.Controller[Site]]:
        reconcile = Reporting(buckets, works_first=works_first).reconcile
        return [sm.Controller(Site, reconcile=reconcile)]

    return Scenario(
        operator=operator, outside=Buckets, kinds=[Site], steps=life_of_a_site, workloads=SETTINGS
    )


# A child whose news is late


async def impatient(a_site: Site, ctx: sm.Context) -> sm.Outcome:
    """Wrong: it takes an event that it has not received for one that never happened."""
    if a_site.status is not None and a_site.status.phase == "Failed":
        return sm.Done()
    deployment = await ctx.apply_owned(_server_of(a_site))
    born = a_site.metadata.creation_timestamp
    if sm.is_ready(deployment):
        await ctx.apply_status(a_site, SiteStatus(phase="Ready"))
        return sm.Done()
    if born is not None and (ctx.now - born).total_seconds() > 10:
        await ctx.apply_status(a_site, SiteStatus(phase="Failed"))
        return sm.Done()
    return sm.Later(after_seconds=5)


async def patient(a_site: Site, ctx: sm.Context) -> sm.Outcome:
    """Right: it says what it knows, and waits for more."""
    deployment = await ctx.apply_owned(_server_of(a_site))
    phase = "Ready" if sm.is_ready(deployment) else "Starting"
    await ctx.apply_status(a_site, SiteStatus(phase=phase))
    return sm.Done() if phase == "Ready" else sm.Later()


def rollout(
    reconcile: Callable[[Site, sm.Context], Awaitable[sm.Outcome]],
) -> Scenario:
    """A site that is served by Pods."""

    async def steps(cluster: Cluster) -> None:
        await cluster.apply(site())
        await cluster.settle()

    controller = sm.Controller(Site, reconcile=reconcile, owns=(apps_v1.Deployment,))
    parts = ("deployments", "replicasets", "nodes", "scheduler")
    return Scenario(
        operator=lambda: [controller],
        kinds=[Site],
        steps=steps,
        workloads=WorkloadSettings(parts=parts),
    )


def _server_of(a_site: Site) -> apps_v1.Deployment:
    return sm.recipes.deployment(a_site.name, core_v1.Container(name="web", image="nginx"))
