"""The operations that a context allows, and its end."""

import asyncio
from random import Random
from typing import Any

import pytest

import steersman as sm
from steersman.client import Client, MergePatch
from steersman.controller import CacheReader, Context
from steersman.controller.context.context import ContextServices
from steersman.controller.declaration.access import DeclaredAccess
from steersman.errors import ContextEnded, UndeclaredWrite
from steersman.kinds import core_v1, meta_v1
from steersman.observe import ignore
from tests.clocks import FakeClock
from tests.transports import ScriptedTransport
from tests.unit.controller.apps import App, app

ConfigMap = core_v1.ConfigMap
Secret = core_v1.Secret


class SlowWriter:
    """Starts each write, and never finishes it."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.was_cancelled = False

    async def apply_owned(self, *_args: Any, **_rest: Any) -> Any:
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise


class PruningWriter:
    """Records the objects that must not be pruned."""

    def __init__(self) -> None:
        self.kept: set[str] = set()

    async def apply_owned(self, child: Any, *_args: Any, **_rest: Any) -> Any:
        return child

    async def prune(self, *_args: Any, keep: Any, **_rest: Any) -> None:
        self.kept = {f"{kind.__name__} {key}" for kind, key in keep}


def context_of(writer: Any, controller: sm.Controller[App]) -> Context:
    services = ContextServices(
        access=DeclaredAccess(controller),
        cached=CacheReader(controller.name, {}),
        client=Client(ScriptedTransport(), clock=FakeClock(), rng=Random(0), observe=ignore),
        writer=writer,
        recorder=writer,
    )
    return Context(controller, app(), services, reasons=(), failures=0, refused=lambda _: None)


async def reconcile(obj: App, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


def config_map() -> core_v1.ConfigMap:
    return ConfigMap(metadata=meta_v1.ObjectMeta(name="settings"))


async def test_a_write_in_progress_when_the_context_ends_is_cancelled() -> None:
    """Such as a write that ``asyncio.gather`` leaves running."""
    writer = SlowWriter()
    context = context_of(writer, sm.Controller(App, reconcile=reconcile, owns=(ConfigMap,)))

    async with asyncio.TaskGroup() as group:
        group.create_task(context.apply_owned(config_map()))
        await writer.started.wait()
        context.end()

    assert writer.was_cancelled


async def test_an_ended_context_neither_reads_nor_writes() -> None:
    context = context_of(
        SlowWriter(), sm.Controller(App, reconcile=reconcile, owns=(ConfigMap,), writes=(Secret,))
    )
    context.end()

    for attempt in (
        lambda: context.apply(Secret()),
        lambda: context.apply_owned(config_map()),
        lambda: context.apply_status(app(), {}),
        lambda: context.patch(Secret(), MergePatch({})),
        lambda: context.delete(Secret()),
        context.prune,
        lambda: context.live.get(ConfigMap, "settings"),
        lambda: context.live.list(ConfigMap),
    ):
        with pytest.raises(ContextEnded):
            await attempt()
    for read in (
        lambda: context.get(ConfigMap, "settings"),
        lambda: context.list(ConfigMap),
        lambda: context.owned(ConfigMap),
        lambda: context.by_index(ConfigMap, "color", "blue"),
        lambda: context.record("Made", "a ConfigMap"),
    ):
        with pytest.raises(ContextEnded):
            read()


async def test_only_owned_kinds_can_be_pruned() -> None:
    controller = sm.Controller(
        App, reconcile=reconcile, watches=(sm.Watch(Secret),), writes=(Secret,)
    )

    with pytest.raises(UndeclaredWrite, match="cannot prune v1 Secret") as raised:
        await context_of(SlowWriter(), controller).prune(Secret)

    declare = 'owns=(sm.Owns(Secret, verbs=("create", "patch", "delete")),)'
    assert declare in str(raised.value)


async def test_an_applied_object_is_kept_by_the_name_that_it_had_when_it_was_applied() -> None:
    widgets = sm.Unstructured.of("example.com/v1", "Widget")
    writer = PruningWriter()
    owns = sm.Owns(widgets, verbs=("create", "patch", "delete"))
    context = context_of(writer, sm.Controller(App, reconcile=reconcile, owns=(owns,)))
    body: dict[str, Any] = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {}}

    for number in range(3):
        body["metadata"]["name"] = f"widget-{number}"
        await context.apply_owned(widgets(body))
    await context.prune()

    assert writer.kept == {f"Widget here/widget-{number}" for number in range(3)}
