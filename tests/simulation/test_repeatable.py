"""The state that a sweep compares, and its errors for randomness and time from outside."""

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


def credentials(obj: Shop, password: str) -> Secret:
    data = {"password": password.encode()}
    return Secret(metadata=meta_v1.ObjectMeta(name=obj.name), data=data)


def scenario(reconcile: object, **rest: object) -> Scenario:
    def operator() -> sm.Controller[Shop]:
        return sm.Controller(Shop, reconcile=reconcile, owns=(Secret,))  # type: ignore[arg-type]

    given = {"operator": operator, "kinds": [Shop], "steps": life_of_a_shop, "workloads": SETTINGS}
    return Scenario(**given, **rest)  # type: ignore[call-overload, no-any-return]


async def reconcile_with_system_randomness(obj: Shop, ctx: sm.Context) -> sm.Outcome:
    if obj.status is None:
        await ctx.apply_status(obj, ShopStatus(account=f"nr-{SystemRandom().random()}"))
    return sm.Done()


async def test_randomness_from_outside_the_cluster_is_not_attributed_to_a_crash() -> None:
    with pytest.raises(NotDeterministic) as caught:
        await survives_crashes(scenario(reconcile_with_system_randomness))

    [found] = caught.value.found
    assert "expected status.account nr-0." in found
    assert "The operator uses randomness or time" in str(caught.value)
    assert "ctx.token()" in str(caught.value)


async def test_a_module_variable_is_not_attributed_to_a_crash() -> None:
    numbers = count(1)

    async def numbered(obj: Shop, ctx: sm.Context) -> sm.Outcome:
        if obj.status is None:
            await ctx.apply_status(obj, ShopStatus(account=str(next(numbers))))
        return sm.Done()

    with pytest.raises(NotDeterministic, match="keep no state in a module"):
        await survives_crashes(scenario(numbered))


async def test_fields_that_are_ignored_are_not_compared() -> None:
    await survives_crashes(
        scenario(reconcile_with_system_randomness, ignore=["Shop.status.account"])
    )


async def test_fields_outside_the_cluster_can_be_ignored_too() -> None:
    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        async def reconcile(obj: Shop, ctx: sm.Context) -> sm.Outcome:
            await accounts.put(obj.name, str(SystemRandom().random()))
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
def test_an_ignore_entry_that_names_no_field_is_rejected(path: str) -> None:
    with pytest.raises(BadScenario, match="is not the path of a field"):
        scenario(reconcile_with_system_randomness, ignore=[path])


async def test_the_data_of_a_secret_is_never_printed() -> None:
    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        async def reconcile(obj: Shop, ctx: sm.Context) -> sm.Outcome:
            if ctx.get(Secret, obj.name) is None:
                # Wrong: after a crash, there are two accounts.
                number = 1 + len(accounts.titles)
                await accounts.put(f"account-{number}", f"{PASSWORD} {number}")
                await ctx.apply_owned(credentials(obj, f"{PASSWORD} {number}"))
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
        async def reconcile(obj: Shop, ctx: sm.Context) -> sm.Outcome:
            await ctx.apply_owned(credentials(obj, PASSWORD))
            await accounts.put(obj.name, PASSWORD)
            return sm.Done()

        async def finalize(obj: Shop, ctx: sm.Context) -> sm.Outcome:
            # Wrong: after a crash, nothing removes the account.
            await ctx.patch(obj, MergePatch({"metadata": {"finalizers": None}}))
            await accounts.remove(obj.name)
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


async def test_a_random_token_that_is_stored_survives() -> None:
    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        async def reconcile(obj: Shop, ctx: sm.Context) -> sm.Outcome:
            kept = ctx.get(Secret, obj.name)
            if kept is None:
                kept = await ctx.apply_owned(credentials(obj, ctx.token()))
            await accounts.put(obj.name, (kept.data or {})["password"].decode())
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


async def test_a_token_that_differs_between_two_places_is_found() -> None:
    def operator(accounts: Accounts) -> sm.Controller[Shop]:
        async def reconcile(obj: Shop, ctx: sm.Context) -> sm.Outcome:
            if ctx.get(Secret, obj.name) is None:
                # Wrong: after a crash, only the account has the token.
                token = ctx.token()
                if obj.name not in accounts.titles:
                    await accounts.put(obj.name, token)
                await ctx.apply_owned(credentials(obj, token))
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
    """The tokens for two shops."""
    tokens: list[str] = []

    async def main(cluster: SimulatedCluster) -> None:
        await cluster.install(Shop)
        await cluster.run_operator(sm.Controller(Shop, reconcile=partial(reconcile, tokens)))
        await cluster.apply(shop("one"))
        await cluster.apply(shop("two"))
        await cluster.settle()

    simulate(main, seed=seed, settings=SETTINGS)
    return tokens


async def draw_tokens(tokens: list[str], obj: Shop, ctx: sm.Context) -> sm.Outcome:
    tokens.extend((ctx.token(), ctx.token(16)))
    return sm.Done()


def draw_tokens_in_a_plain_function(
    tokens: list[str], obj: Shop, ctx: sm.BlockingContext
) -> sm.Outcome:
    tokens.extend((ctx.token(), ctx.token(16)))
    return sm.Done()


@pytest.mark.parametrize("reconcile", [draw_tokens, draw_tokens_in_a_plain_function])
def test_tokens_are_determined_by_the_seed_and_are_unique(reconcile: Any) -> None:
    first, again, other = (drawn(seed, reconcile) for seed in (1, 1, 2))

    assert first == again
    assert len({*first, *other}) == 8
    assert [len(each) for each in first] == [43, 22, 43, 22]


def test_a_token_that_can_be_guessed_is_rejected() -> None:
    async def draw_short_token(tokens: list[str], obj: Shop, ctx: sm.Context) -> sm.Outcome:
        with pytest.raises(ValueError, match="a token must have at least 16 bytes, got 15"):
            ctx.token(15)
        tokens.append("rejected")
        return sm.Done()

    assert drawn(1, draw_short_token) == ["rejected", "rejected"]
