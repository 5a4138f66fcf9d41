"""The current objects of some kinds."""

from steersman.kinds import core_v1
from steersman.observe import ignore
from steersman.view import ObjectView
from tests.clocks import ManualClock
from tests.embedded import EmbeddedServer, config_map

MAPS = "/api/v1/namespaces/default/configmaps"
CONFIG_MAP = core_v1.ConfigMap.resource_type
SECRET = core_v1.Secret.resource_type


async def names_after_a_change(view: ObjectView) -> list[str]:
    await view.changed.wait()
    view.changed.clear()
    return [each.name for each in view.objects]


async def test_a_watched_object_is_in_the_view_and_each_change_is_reported() -> None:
    api = EmbeddedServer(clock=ManualClock())
    await api.asked("POST", MAPS, config_map("one"))

    async with ObjectView(api.client(), observe=ignore).open() as view:
        view.follow([CONFIG_MAP])
        first = await names_after_a_change(view)
        while view.changed.is_set():
            await names_after_a_change(view)
        await api.asked("POST", MAPS, config_map("two"))
        then = await names_after_a_change(view)
        await api.asked("DELETE", f"{MAPS}/one")
        last = await names_after_a_change(view)

    assert "one" in first
    assert {"one", "two"} <= set(then)
    assert "one" not in last


async def test_a_kind_that_is_added_twice_is_watched_once() -> None:
    api = EmbeddedServer(clock=ManualClock())
    await api.asked("POST", MAPS, config_map("one"))

    async with ObjectView(api.client(), observe=ignore).open() as view:
        view.follow([CONFIG_MAP, SECRET])
        view.follow([CONFIG_MAP])
        while "one" not in (names := await names_after_a_change(view)):
            pass

    assert names.count("one") == 1


async def test_after_catch_up_the_view_has_all_objects() -> None:
    api = EmbeddedServer(clock=ManualClock())

    async with ObjectView(api.client(), observe=ignore).open() as view:
        view.follow([CONFIG_MAP])
        await view.catch_up()
        await api.asked("POST", MAPS, config_map("one"))
        await view.catch_up()
        seen = [each.name for each in view.objects]
        await api.asked("DELETE", f"{MAPS}/one")
        await view.catch_up()

        assert "one" in seen
        assert "one" not in [each.name for each in view.objects]
