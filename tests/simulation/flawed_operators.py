"""Operators with a mistake that one crash, stale cache or concurrent write reveals.

Each has two variants, which differ only in the mistake: ``is_correct`` chooses one.
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

# Only garbage collection: children must be deleted with their owners.
SETTINGS: Final = WorkloadSettings(parts=("garbagecollector",))


class ShopSpec(sm.Part):
    """The desired state."""

    title: str = "first"
    pages: int = 1
    tags: tuple[str, ...] = ()


class ShopStatus(sm.Part):
    """The observed state."""

    account: str | None = None


class Shop(sm.CustomResource[ShopSpec, ShopStatus], group="shops.example.com", version="v1"):
    """A shop with pages in ConfigMaps, and an account in an external system."""


class Accounts:
    """An external system."""

    def __init__(self) -> None:
        self.titles: dict[str, str] = {}

    async def put(self, name: str, title: str) -> None:
        """Create or update the account of this name."""
        self.titles[name] = title

    async def remove(self, name: str) -> None:
        """Remove the account, if it exists."""
        self.titles.pop(name, None)


def shop(name: str = "home", **spec: object) -> Shop:
    """A shop as a user applies it."""
    return Shop(metadata=meta_v1.ObjectMeta(name=name), spec=ShopSpec(**spec))  # type: ignore[arg-type]


def page(**metadata: str) -> ConfigMap:
    return ConfigMap(metadata=meta_v1.ObjectMeta(**metadata))  # type: ignore[arg-type]


# Children stored in memory


class Renaming:
    """Creates a page named after the title, and deletes that of an earlier title."""

    def __init__(self, *, is_correct: bool) -> None:
        self._is_correct = is_correct
        self._pages: dict[str, ConfigMap] = {}

    async def reconcile(self, obj: Shop, ctx: sm.Context) -> sm.Outcome:
        """Create the page of this title, and delete any other."""
        made = await ctx.apply_owned(page(name=f"{obj.name}-{obj.spec.title}"))
        if self._is_correct:
            await ctx.prune()
            return sm.Done()
        # Wrong: after a restart, the operator has no record of earlier pages.
        earlier = self._pages.get(obj.uid)
        if earlier is not None and earlier.name != made.name:
            await ctx.delete(earlier)
        self._pages[obj.uid] = made
        return sm.Done()


def children_in_memory(*, is_correct: bool) -> Scenario:
    """A shop gets another title."""

    async def steps(cluster: Cluster) -> None:
        await cluster.apply(shop())
        await cluster.settle()
        await cluster.apply(shop(title="second"))
        await cluster.settle()

    def operator() -> sm.Controller[Shop]:
        reconcile = Renaming(is_correct=is_correct).reconcile
        deleting = sm.Owns(ConfigMap, verbs=("create", "patch", "delete"))
        return sm.Controller(Shop, reconcile=reconcile, owns=(deleting,))

    return Scenario(operator=operator, kinds=[Shop], steps=steps, workloads=SETTINGS)


# Memory keyed by name, across delete and recreate


class OpeningOnce:
    """Opens an account for each shop, and records in memory that it did so."""

    def __init__(self, accounts: Accounts, *, is_correct: bool) -> None:
        self._accounts = accounts
        self._is_correct = is_correct
        self._opened: set[str] = set()

    async def reconcile(self, obj: Shop, ctx: sm.Context) -> sm.Outcome:
        """Open an account with the initial title of the shop."""
        # Wrong: an earlier shop may have had this name.
        key = obj.uid if self._is_correct else obj.name
        if key not in self._opened:
            await self._accounts.put(obj.name, obj.spec.title)
            self._opened.add(key)
        return sm.Done()

    async def finalize(self, obj: Shop, ctx: sm.Context) -> sm.Outcome:
        """Remove the account."""
        await self._accounts.remove(obj.name)
        return sm.Done()


def memory_by_name(*, is_correct: bool) -> Scenario:
    """A shop is deleted, and another one with its name is created."""

    async def steps(cluster: Cluster) -> None:
        await cluster.apply(shop())
        await cluster.settle()
        await cluster.delete(Shop, "home")
        await cluster.settle()
        await cluster.apply(shop())
        await cluster.settle()

    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        opening = OpeningOnce(accounts, is_correct=is_correct)
        return sm.Controller(Shop, reconcile=opening.reconcile, finalize=opening.finalize)

    return Scenario(
        operator=operator, outside=Accounts, kinds=[Shop], steps=steps, workloads=SETTINGS
    )


# A counter in memory as the source of names


class Counting:
    """Opens an account for each shop under a counted name, which it writes to the status."""

    def __init__(self, accounts: Accounts, *, is_correct: bool) -> None:
        self._accounts = accounts
        self._is_correct = is_correct
        self._numbers: dict[str, int] = {}

    async def reconcile(self, obj: Shop, ctx: sm.Context) -> sm.Outcome:
        """Open an account."""
        noted = obj.status.account if obj.status is not None else None
        # Wrong: after a restart, the operator counts from one.
        number = self._numbers.setdefault(obj.uid, len(self._numbers) + 1) if not noted else 0
        account = noted or (f"account-{obj.name}" if self._is_correct else f"account-{number}")
        await ctx.apply_status(obj, ShopStatus(account=account))
        await self._accounts.put(account, obj.spec.title)
        return sm.Done()


def counter_in_memory(*, is_correct: bool) -> Scenario:
    """Two shops are created, one after the other."""

    async def steps(cluster: Cluster) -> None:
        await cluster.apply(shop("one", title="first"))
        await cluster.settle()
        await cluster.apply(shop("two", title="second"))
        await cluster.settle()

    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        return sm.Controller(Shop, reconcile=Counting(accounts, is_correct=is_correct).reconcile)

    return Scenario(
        operator=operator, outside=Accounts, kinds=[Shop], steps=steps, workloads=SETTINGS
    )


# Children with generated names, counted from the cache


async def counting_pages(obj: Shop, ctx: sm.Context) -> sm.Outcome:
    """Wrong: a page whose creation has no response or event yet is not in the cache."""
    for _ in range(obj.spec.pages - len(ctx.owned(ConfigMap))):
        await ctx.create_owned(page(generate_name=f"{obj.name}-"))
    return sm.Done()


async def numbering_pages(obj: Shop, ctx: sm.Context) -> sm.Outcome:
    """Right: the name identifies the page."""
    for number in range(obj.spec.pages):
        await ctx.apply_owned(page(name=f"{obj.name}-{number}"))
    return sm.Done()


def children_from_cache(*, is_correct: bool) -> Scenario:
    """A shop has two pages."""
    reconcile = numbering_pages if is_correct else counting_pages

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


async def tagging_over(obj: Shop, ctx: sm.Context) -> sm.Outcome:
    """Wrong: the tags may have changed before this write arrives."""
    return await _tag(obj, ctx, {})


async def tagging_with_a_precondition(obj: Shop, ctx: sm.Context) -> sm.Outcome:
    """Right: if the tags have changed, the write conflicts and is retried."""
    return await _tag(obj, ctx, {"metadata": {"resourceVersion": obj.resource_version}})


async def _tag(obj: Shop, ctx: sm.Context, precondition: dict[str, object]) -> sm.Outcome:
    if "managed" not in obj.spec.tags:
        tags = [*obj.spec.tags, "managed"]
        await ctx.patch(obj, MergePatch({"spec": {"tags": tags}, **precondition}))
    return sm.Done()


def stale_update(*, is_correct: bool) -> Scenario:
    """A user sets one tag of a shop, and then another."""
    reconcile = tagging_with_a_precondition if is_correct else tagging_over

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
    """Opens an account, which must be removed with its shop."""

    def __init__(self, accounts: Accounts, *, is_correct: bool) -> None:
        self._accounts = accounts
        self._is_correct = is_correct

    async def reconcile(self, obj: Shop, ctx: sm.Context) -> sm.Outcome:
        """Keep an account while the shop exists."""
        if obj.deletion_time is not None:
            await self._accounts.remove(obj.name)
            await ctx.patch(obj, MergePatch({"metadata": {"finalizers": None}}))
            return sm.Done()
        if self._is_correct:
            await self._hold(obj, ctx)
            await self._accounts.put(obj.name, obj.spec.title)
        else:
            # Wrong: if the shop is deleted now, its account remains.
            await self._accounts.put(obj.name, obj.spec.title)
            await self._hold(obj, ctx)
        return sm.Done()

    async def _hold(self, obj: Shop, ctx: sm.Context) -> None:
        if FINALIZER not in (obj.metadata.finalizers or ()):
            await ctx.patch(obj, MergePatch({"metadata": {"finalizers": [FINALIZER]}}))


def late_finalizer(*, is_correct: bool) -> Scenario:
    """A shop is created and deleted."""

    async def steps(cluster: Cluster) -> None:
        await cluster.apply(shop())
        await cluster.settle()
        await cluster.delete(Shop, "home")
        await cluster.settle()

    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        reconcile = Holding(accounts, is_correct=is_correct).reconcile
        return sm.Controller(Shop, reconcile=reconcile, writes=(Shop,), while_deleting=True)

    return Scenario(
        operator=operator, outside=Accounts, kinds=[Shop], steps=steps, workloads=SETTINGS
    )
