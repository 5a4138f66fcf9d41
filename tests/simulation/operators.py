"""Small operators, each with a mistake that only a crash at one moment reveals, and corrected.

A ``Site`` is a bucket in an external system, and a ConfigMap with its address.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import steersman as sm
from steersman.client import MergePatch
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman_cluster.simulation import Cluster, Scenario
from steersman_cluster.workloads import WorkloadSettings

FINALIZER: Final = "sites.example.com/bucket"

# Only garbage collection: the children are not workloads, but must be deleted with their owner.
SETTINGS: Final = WorkloadSettings(parts=("garbagecollector",))


class SiteSpec(sm.Part):
    """The desired state."""

    title: str


class SiteStatus(sm.Part):
    """The observed state."""

    config: str | None = None
    phase: str | None = None


class Site(sm.CustomResource[SiteSpec, SiteStatus], group="sites.example.com", version="v1"):
    """A bucket, and a ConfigMap with its address."""


class Buckets:
    """An external system."""

    def __init__(self) -> None:
        self.titles: dict[str, str] = {}

    async def put(self, name: str, title: str) -> None:
        """Create or update the bucket of this name."""
        self.titles[name] = title

    async def remove(self, name: str) -> None:
        """Remove the bucket, if it exists."""
        self.titles.pop(name, None)


def config_map(site: Site, **metadata: Any) -> core_v1.ConfigMap:
    """The ConfigMap with the address of the site."""
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
    """Right: the name is derived from the site."""
    child = await ctx.apply_owned(config_map(site, name=site.name))
    await ctx.apply_status(site, SiteStatus(config=child.name))
    return sm.Done()


# A finalizer removed before the cleanup


class Finalizing:
    """Adds its own finalizer to sites, and removes it."""

    def __init__(self, buckets: Buckets, *, cleans_up_first: bool) -> None:
        self._buckets = buckets
        self._cleans_up_first = cleans_up_first

    async def reconcile(self, site: Site, ctx: sm.Context) -> sm.Outcome:
        """Keep a bucket while the site exists."""
        if site.deletion_time is None:
            if FINALIZER not in (site.metadata.finalizers or ()):
                await ctx.patch(site, MergePatch({"metadata": {"finalizers": [FINALIZER]}}))
            await self._buckets.put(site.name, site.spec.title)
        elif self._cleans_up_first:
            await self._buckets.remove(site.name)
            await ctx.patch(site, MergePatch({"metadata": {"finalizers": None}}))
        else:
            # Wrong: this deletes the site, and after a crash here its bucket remains.
            await ctx.patch(site, MergePatch({"metadata": {"finalizers": None}}))
            await self._buckets.remove(site.name)
        return sm.Done()


# Status written before the work


class Reporting:
    """Reports in the status that the bucket exists."""

    def __init__(self, buckets: Buckets, *, works_first: bool) -> None:
        self._buckets = buckets
        self._works_first = works_first

    async def reconcile(self, site: Site, ctx: sm.Context) -> sm.Outcome:
        """Create a bucket, and report it."""
        done = SiteStatus(phase=f"Published {site.spec.title}")
        if site.status is not None and site.status.phase == done.phase:
            return sm.Done()
        if self._works_first:
            await self._buckets.put(site.name, site.spec.title)
            await ctx.apply_status(site, done)
        else:
            # Wrong: after a crash here, the status reports a bucket that does not exist.
            await ctx.apply_status(site, done)
            await self._buckets.put(site.name, site.spec.title)
        return sm.Done()


# Shared by all operators


def site(title: str = "first") -> Site:
    """A site as a user applies it."""
    return Site(metadata=meta_v1.ObjectMeta(name="home"), spec=SiteSpec(title=title))


async def life_of_a_site(cluster: Cluster) -> None:
    """A site is created, updated and deleted."""
    await cluster.apply(site())
    await cluster.settle()
    await cluster.apply(site("second"))
    await cluster.settle()
    await cluster.delete(Site, "home")
    await cluster.settle()


def naming(reconcile: Callable[[Site, sm.Context], Awaitable[sm.Outcome]], **rest: Any) -> Scenario:
    """The scenario of an operator that creates a ConfigMap."""
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
    """The scenario of a site with a finalizer."""

    def operator(buckets: Buckets) -> Sequence[sm.Controller[Site]]:
        reconcile = Finalizing(buckets, cleans_up_first=cleans_up_first).reconcile
        return [sm.Controller(Site, reconcile=reconcile, writes=(Site,), while_deleting=True)]

    return Scenario(
        operator=operator, outside=Buckets, kinds=[Site], steps=life_of_a_site, workloads=SETTINGS
    )


def reporting(*, works_first: bool) -> Scenario:
    """The scenario of a site with a status."""

    def operator(buckets: Buckets) -> Sequence[sm.Controller[Site]]:
        reconcile = Reporting(buckets, works_first=works_first).reconcile
        return [sm.Controller(Site, reconcile=reconcile)]

    return Scenario(
        operator=operator, outside=Buckets, kinds=[Site], steps=life_of_a_site, workloads=SETTINGS
    )


# A child with late events


async def impatient(obj: Site, ctx: sm.Context) -> sm.Outcome:
    """Wrong: it treats an event that it has not received as one that never happened."""
    if obj.status is not None and obj.status.phase == "Failed":
        return sm.Done()
    deployment = await ctx.apply_owned(_server_of(obj))
    born = obj.metadata.creation_timestamp
    if sm.is_ready(deployment):
        await ctx.apply_status(obj, SiteStatus(phase="Ready"))
        return sm.Done()
    if born is not None and (ctx.now - born).total_seconds() > 10:
        await ctx.apply_status(obj, SiteStatus(phase="Failed"))
        return sm.Done()
    return sm.Later(after_seconds=5)


async def patient(obj: Site, ctx: sm.Context) -> sm.Outcome:
    """Right: it uses the received events, and waits for more."""
    deployment = await ctx.apply_owned(_server_of(obj))
    phase = "Ready" if sm.is_ready(deployment) else "Starting"
    await ctx.apply_status(obj, SiteStatus(phase=phase))
    return sm.Done() if phase == "Ready" else sm.Later()


def rollout(
    reconcile: Callable[[Site, sm.Context], Awaitable[sm.Outcome]],
) -> Scenario:
    """The scenario of a site that is served by Pods."""

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


def _server_of(obj: Site) -> apps_v1.Deployment:
    return sm.recipes.deployment(obj.name, core_v1.Container(name="web", image="nginx"))
