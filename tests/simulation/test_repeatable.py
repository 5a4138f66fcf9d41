"""What a sweep compares, and what it says where chance or time came from outside the cluster."""

from base64 import b64encode
from functools import partial
from itertools import count
from random import SystemRandom
from typing import Any

import pytest

import steersman as sm
from steersman.client import MergePatch
from steersman.kinds import core_v1, meta_v1
from steersman_cluster.errors import BadScenario, CrashSweepFailed, NotDeterministic
from steersman_cluster.simulation import (
    Cluster,
    Scenario,
    SimulatedCluster,
    simulate,
    survives_crashes,
)
from tests.simulation.flawed_operators import SETTINGS, Accounts, Shop, ShopStatus, shop

Secret = core_v1.Secret

PASSWORD = "correct horse battery"


async def life_of_a_shop(cluster: Cluster) -> None:
    await cluster.apply(shop())
    await cluster.settle()


def credentials(a_shop: Shop, password: str) -> Secret:
    data = {"password": password.encode()}
    return Secret(metadata=meta_v1.ObjectMeta(name=a_shop.name), data=data)


def scenario(reconcile: object, **rest: object) -> Scenario:
    def operator() -> sm.Controller[Shop]:
        return sm.Controller(Shop, reconcile=reconcile, owns=(Secret,))  # type: ignore[arg-type]

    given = {"operator": operator, "kinds": [Shop], "steps": life_of_a_shop, "workloads": SETTINGS}
    return Scenario(**given, **rest)  # type: ignore[call-overload, no-any-return]


async def by_chance_of_its_own(a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
    if a_shop.status is None:
        await ctx.apply_status(a_shop, ShopStatus(account=f"nr-{SystemRandom().random()}"))
    return sm.Done()


async def test_randomness_from_outside_the_cluster_is_not_attributed_to_a_crash() -> None:
    with pytest.raises(NotDeterministic) as caught:
        await survives_crashes(scenario(by_chance_of_its_own))

    [found] = caught.value.found
    assert "expected status.account nr-0." in found
    assert "The operator uses randomness or time" in str(caught.value)
    assert "ctx.token()" in str(caught.value)


async def test_a_module_variable_is_not_attributed_to_a_crash() -> None:
    numbers = count(1)

    async def numbered(a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
        if a_shop.status is None:
            await ctx.apply_status(a_shop, ShopStatus(account=str(next(numbers))))
        return sm.Done()

    with pytest.raises(NotDeterministic, match="keep no state in a module"):
        await survives_crashes(scenario(numbered))


async def test_fields_that_are_ignored_are_not_compared() -> None:
    await survives_crashes(scenario(by_chance_of_its_own, ignore=["Shop.status.account"]))


async def test_fields_outside_the_cluster_can_be_ignored_too() -> None:
    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        async def reconcile(a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
            await accounts.put(a_shop.name, str(SystemRandom().random()))
            return sm.Done()

        return sm.Controller(Shop, reconcile=reconcile)

    await survives_crashes(
        Scenario(
            operator=operator,
            outside=Accounts,
            kinds=[Shop],
            steps=life_of_a_shop,
            workloads=SETTINGS,
            ignore=["outside.titles.*"],
        )
    )


@pytest.mark.parametrize("path", ["", "Shop", "Shop.", "Shop.status[account"])
def test_an_ignore_entry_that_names_no_field_is_refused(path: str) -> None:
    with pytest.raises(BadScenario, match="is not the path of a field"):
        scenario(by_chance_of_its_own, ignore=[path])


async def test_the_data_of_a_secret_is_never_printed() -> None:
    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        async def reconcile(a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
            if ctx.get(Secret, a_shop.name) is None:
                # Wrong: after a crash there are two accounts.
                number = 1 + len(accounts.titles)
                await accounts.put(f"account-{number}", f"{PASSWORD} {number}")
                await ctx.apply_owned(credentials(a_shop, f"{PASSWORD} {number}"))
            return sm.Done()

        return sm.Controller(Shop, reconcile=reconcile, owns=(Secret,))

    with pytest.raises(CrashSweepFailed) as caught:
        await survives_crashes(
            Scenario(
                operator=operator,
                outside=Accounts,
                kinds=[Shop],
                steps=life_of_a_shop,
                workloads=SETTINGS,
            ),
            only="after call 1",
        )

    said = str(caught.value)
    assert "Secret default/home: expected data.password <hidden>, found another one" in said
    assert "outside the cluster: expected no titles.account-2, found <hidden>" in said
    assert PASSWORD not in said
    assert b64encode(PASSWORD.encode()).decode()[:12] not in said


async def test_the_data_of_a_deleted_secret_is_not_printed() -> None:
    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        async def reconcile(a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
            await ctx.apply_owned(credentials(a_shop, PASSWORD))
            await accounts.put(a_shop.name, PASSWORD)
            return sm.Done()

        async def finalize(a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
            # Wrong: after a crash, nothing removes the account.
            await ctx.patch(a_shop, MergePatch({"metadata": {"finalizers": None}}))
            await accounts.remove(a_shop.name)
            return sm.Done()

        return sm.Controller(
            Shop, reconcile=reconcile, finalize=finalize, owns=(Secret,), writes=(Shop,)
        )

    async def steps(cluster: Cluster) -> None:
        await life_of_a_shop(cluster)
        await cluster.delete(Shop, "home")
        await cluster.settle()

    with pytest.raises(CrashSweepFailed) as caught:
        await survives_crashes(
            Scenario(
                operator=operator,
                outside=Accounts,
                kinds=[Shop],
                steps=steps,
                workloads=SETTINGS,
            )
        )

    assert caught.value.found == ("outside the cluster: expected no titles.home, found <hidden>",)


async def test_a_token_that_is_kept_survives_although_it_is_random() -> None:
    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        async def reconcile(a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
            kept = ctx.get(Secret, a_shop.name)
            if kept is None:
                kept = await ctx.apply_owned(credentials(a_shop, ctx.token()))
            await accounts.put(a_shop.name, (kept.data or {})["password"].decode())
            return sm.Done()

        return sm.Controller(Shop, reconcile=reconcile, owns=(Secret,))

    await survives_crashes(
        Scenario(
            operator=operator,
            outside=Accounts,
            kinds=[Shop],
            steps=life_of_a_shop,
            workloads=SETTINGS,
        )
    )


async def test_a_token_that_is_not_the_same_in_both_places_is_found() -> None:
    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        async def reconcile(a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
            if ctx.get(Secret, a_shop.name) is None:
                # Wrong: after a crash the account has a token that is nowhere else.
                token = ctx.token()
                if a_shop.name not in accounts.titles:
                    await accounts.put(a_shop.name, token)
                await ctx.apply_owned(credentials(a_shop, token))
            return sm.Done()

        return sm.Controller(Shop, reconcile=reconcile, owns=(Secret,))

    with pytest.raises(CrashSweepFailed, match="found"):
        await survives_crashes(
            Scenario(
                operator=operator,
                outside=Accounts,
                kinds=[Shop],
                steps=life_of_a_shop,
                workloads=SETTINGS,
            )
        )


def drawn(seed: int, reconcile: Any) -> list[str]:
    """The tokens that are drawn for two shops."""
    tokens: list[str] = []

    async def main(cluster: SimulatedCluster) -> None:
        await cluster.install(Shop)
        await cluster.run_operator(sm.Controller(Shop, reconcile=partial(reconcile, tokens)))
        await cluster.apply(shop("one"))
        await cluster.apply(shop("two"))
        await cluster.settle()

    simulate(main, seed=seed, settings=SETTINGS)
    return tokens


async def draw(tokens: list[str], a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
    tokens.extend((ctx.token(), ctx.token(16)))
    return sm.Done()


def draw_plainly(tokens: list[str], a_shop: Shop, ctx: sm.BlockingContext) -> sm.Outcome:
    tokens.extend((ctx.token(), ctx.token(16)))
    return sm.Done()


@pytest.mark.parametrize("reconcile", [draw, draw_plainly])
def test_tokens_are_the_same_for_the_same_seed_and_no_two_are_alike(reconcile: Any) -> None:
    first, again, other = (drawn(seed, reconcile) for seed in (1, 1, 2))

    assert first == again
    assert len({*first, *other}) == 8
    assert [len(each) for each in first] == [43, 22, 43, 22]


def test_a_token_that_can_be_guessed_is_refused() -> None:
    async def draw_little(tokens: list[str], a_shop: Shop, ctx: sm.Context) -> sm.Outcome:
        with pytest.raises(ValueError, match="a token of 15 bytes can be guessed"):
            ctx.token(15)
        tokens.append("refused")
        return sm.Done()

    assert drawn(1, draw_little) == ["refused", "refused"]
