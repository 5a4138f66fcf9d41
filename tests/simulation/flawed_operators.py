"""Operators with a mistake that one crash, stale cache or concurrent write shows, and mended.

Each comes in two: ``is_right`` says which. They differ in nothing but the mistake.
"""

from collections.abc import Awaitable, Callable
from typing import Final

import steersman as sm
from steersman.client import MergePatch
from steersman.kinds import core_v1, meta_v1
from steersman_cluster.simulation import Cluster, Scenario
from steersman_cluster.workloads import WorkloadSettings

ConfigMap = core_v1.ConfigMap

FINALIZER: Final = "shops.example.com/account"

# Children must go with their owners; nothing else of a cluster is needed.
SETTINGS: Final = WorkloadSettings(parts=("garbagecollector",))


class ShopSpec(sm.Part):
    """What is asked for."""

    title: str = "first"
    pages: int = 1
    tags: tuple[str, ...] = ()


class ShopStatus(sm.Part):
    """What has become of it."""

    account: str | None = None


class Shop(sm.CustomResource[ShopSpec, ShopStatus], group="shops.example.com", version="v1"):
    """Pages in ConfigMaps, and an account beyond the cluster."""


class Accounts:
    """A service beyond the cluster."""

    def __init__(self) -> None:
        self.titles: dict[str, str] = {}

    async def put(self, name: str, title: str) -> None:
        """Have an account of this name and title."""
        self.titles[name] = title

    async def remove(self, name: str) -> None:
        """Have none; it is fine if there was none."""
        self.titles.pop(name, None)


def shop(name: str = "home", **spec: object) -> Shop:
    """What a user would apply."""
    return Shop(metadata=meta_v1.ObjectMeta(name=name), spec=ShopSpec(**spec))  # type: ignore[arg-type]


def page(**metadata: str) -> ConfigMap:
    """One page of a shop."""
    return ConfigMap(metadata=meta_v1.ObjectMeta(**metadata))  # type: ignore[arg-type]


# Children remembered in memory


class Renaming:
    """Has one page, named after the title, and deletes the one of an earlier title."""

    def __init__(self, *, is_right: bool) -> None:
        self._is_right = is_right
        self._pages: dict[str, ConfigMap] = {}

    async def reconcile(self, a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
        """Have the page of this title, and no other."""
        made = await ctx.apply_owned(page(name=f"{a_shop.name}-{a_shop.spec.title}"))
        if self._is_right:
            await ctx.prune()
            return sm.Done()
        # Wrong: an operator that was started again remembers no earlier page.
        earlier = self._pages.get(a_shop.uid)
        if earlier is not None and earlier.name != made.name:
            await ctx.delete(earlier)
        self._pages[a_shop.uid] = made
        return sm.Done()


def children_in_memory(*, is_right: bool) -> Scenario:
    """A shop is given another title."""

    async def steps(cluster: Cluster) -> None:
        await cluster.apply(shop())
        await cluster.settle()
        await cluster.apply(shop(title="second"))
        await cluster.settle()

    def operator() -> sm.Controller[Shop]:
        reconcile = Renaming(is_right=is_right).reconcile
        deleting = sm.Owns(ConfigMap, verbs=("create", "patch", "delete"))
        return sm.Controller(Shop, reconcile=reconcile, owns=(deleting,))

    return Scenario(operator=operator, kinds=[Shop], steps=steps, workloads=SETTINGS)


# Memory keyed by name, across delete and recreate


class OpeningOnce:
    """Opens an account for each shop, and remembers for which it has done so."""

    def __init__(self, accounts: Accounts, *, is_right: bool) -> None:
        self._accounts = accounts
        self._is_right = is_right
        self._opened: set[str] = set()

    async def reconcile(self, a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
        """Have an account, of the title with which the shop was created."""
        # Wrong: another shop may have had that name.
        key = a_shop.uid if self._is_right else a_shop.name
        if key not in self._opened:
            await self._accounts.put(a_shop.name, a_shop.spec.title)
            self._opened.add(key)
        return sm.Done()

    async def finalize(self, a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
        """Have none."""
        await self._accounts.remove(a_shop.name)
        return sm.Done()


def memory_by_name(*, is_right: bool) -> Scenario:
    """A shop is deleted, and another one of its name created."""

    async def steps(cluster: Cluster) -> None:
        await cluster.apply(shop())
        await cluster.settle()
        await cluster.delete(Shop, "home")
        await cluster.settle()
        await cluster.apply(shop())
        await cluster.settle()

    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        opening = OpeningOnce(accounts, is_right=is_right)
        return sm.Controller(Shop, reconcile=opening.reconcile, finalize=opening.finalize)

    return Scenario(
        operator=operator, outside=Accounts, kinds=[Shop], steps=steps, workloads=SETTINGS
    )


# A counter in memory as the source of names


class Counting:
    """Gives each shop an account of its own, and notes its name before it opens it."""

    def __init__(self, accounts: Accounts, *, is_right: bool) -> None:
        self._accounts = accounts
        self._is_right = is_right
        self._numbers: dict[str, int] = {}

    async def reconcile(self, a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
        """Have an account."""
        noted = a_shop.status.account if a_shop.status is not None else None
        # Wrong: an operator that was started again begins to count at one.
        number = self._numbers.setdefault(a_shop.uid, len(self._numbers) + 1) if not noted else 0
        account = noted or (f"account-{a_shop.name}" if self._is_right else f"account-{number}")
        await ctx.apply_status(a_shop, ShopStatus(account=account))
        await self._accounts.put(account, a_shop.spec.title)
        return sm.Done()


def counter_in_memory(*, is_right: bool) -> Scenario:
    """Two shops, one after the other."""

    async def steps(cluster: Cluster) -> None:
        await cluster.apply(shop("one", title="first"))
        await cluster.settle()
        await cluster.apply(shop("two", title="second"))
        await cluster.settle()

    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        return sm.Controller(Shop, reconcile=Counting(accounts, is_right=is_right).reconcile)

    return Scenario(
        operator=operator, outside=Accounts, kinds=[Shop], steps=steps, workloads=SETTINGS
    )


# Children with generated names, counted from the cache


async def counting_pages(a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
    """Wrong: a page that was created, and of which no answer or event has arrived, is not there."""
    for _ in range(a_shop.spec.pages - len(ctx.owned(ConfigMap))):
        await ctx.create_owned(page(generate_name=f"{a_shop.name}-"))
    return sm.Done()


async def numbering_pages(a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
    """Right: the name says which page it is."""
    for number in range(a_shop.spec.pages):
        await ctx.apply_owned(page(name=f"{a_shop.name}-{number}"))
    return sm.Done()


def children_from_cache(*, is_right: bool) -> Scenario:
    """A shop with two pages."""
    reconcile = numbering_pages if is_right else counting_pages

    async def steps(cluster: Cluster) -> None:
        await cluster.apply(shop(pages=2))
        await cluster.settle()

    return _of_pages(reconcile, steps)


def _of_pages(
    reconcile: Callable[[Shop, sm.Context], Awaitable[sm.Outcome]],
    steps: Callable[[Cluster], Awaitable[None]],
) -> Scenario:
    def operator() -> sm.Controller[Shop]:
        return sm.Controller(Shop, reconcile=reconcile, owns=(ConfigMap,), writes=(ConfigMap,))

    return Scenario(operator=operator, kinds=[Shop], steps=steps, workloads=SETTINGS)


# A user's field overwritten by a stale read-modify-write


async def tagging_over(a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
    """Wrong: the tags may be others by the time at which these arrive."""
    return await _tag(a_shop, ctx, {})


async def tagging_with_a_precondition(a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
    """Right: where the tags have changed, this is a conflict, and tried again."""
    return await _tag(a_shop, ctx, {"metadata": {"resourceVersion": a_shop.resource_version}})


async def _tag(a_shop: Shop, ctx: sm.Context, precondition: dict[str, object]) -> sm.Outcome:
    if "managed" not in a_shop.spec.tags:
        tags = [*a_shop.spec.tags, "managed"]
        await ctx.patch(a_shop, MergePatch({"spec": {"tags": tags}, **precondition}))
    return sm.Done()


def stale_update(*, is_right: bool) -> Scenario:
    """A user gives a shop one tag, and then another."""
    reconcile = tagging_with_a_precondition if is_right else tagging_over

    async def steps(cluster: Cluster) -> None:
        await cluster.apply(shop(tags=("new",)))
        await cluster.settle()
        await cluster.apply(shop(tags=("new", "open")))
        await cluster.settle()

    def operator() -> sm.Controller[Shop]:
        return sm.Controller(Shop, reconcile=reconcile, writes=(Shop,))

    return Scenario(operator=operator, kinds=[Shop], steps=steps, workloads=SETTINGS)


# A finalizer added after the first external effect


class Holding:
    """Opens an account, which must not outlive its shop."""

    def __init__(self, accounts: Accounts, *, is_right: bool) -> None:
        self._accounts = accounts
        self._is_right = is_right

    async def reconcile(self, a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
        """Have an account as long as there is a shop."""
        if a_shop.deletion_time is not None:
            await self._accounts.remove(a_shop.name)
            await ctx.patch(a_shop, MergePatch({"metadata": {"finalizers": None}}))
            return sm.Done()
        if self._is_right:
            await self._hold(a_shop, ctx)
            await self._accounts.put(a_shop.name, a_shop.spec.title)
        else:
            # Wrong: a shop that is deleted now leaves the account behind.
            await self._accounts.put(a_shop.name, a_shop.spec.title)
            await self._hold(a_shop, ctx)
        return sm.Done()

    async def _hold(self, a_shop: Shop, ctx: sm.Context) -> None:
        if FINALIZER not in (a_shop.metadata.finalizers or ()):
            await ctx.patch(a_shop, MergePatch({"metadata": {"finalizers": [FINALIZER]}}))


def late_finalizer(*, is_right: bool) -> Scenario:
    """A shop is made, and deleted."""

    async def steps(cluster: Cluster) -> None:
        await cluster.apply(shop())
        await cluster.settle()
        await cluster.delete(Shop, "home")
        await cluster.settle()

    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        reconcile = Holding(accounts, is_right=is_right).reconcile
        return sm.Controller(Shop, reconcile=reconcile, writes=(Shop,), while_deleting=True)

    return Scenario(
        operator=operator, outside=Accounts, kinds=[Shop], steps=steps, workloads=SETTINGS
    )
