"""Predicates, mappings and sources, as an author writes them."""

from collections.abc import AsyncIterator, Iterable

import steersman as sm
from steersman import changed
from steersman.kinds import apps_v1, core_v1


class Spec(sm.Part):
    size: int = 1
    config: str = ""


class Status(sm.Part):
    ready_replicas: int | None = None


class App(sm.CustomResource[Spec, Status], group="app.example.com", version="v1"):
    pass


async def reconcile(app: App, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


def grows(old: App | None, new: App) -> bool:
    return old is None or new.spec.size > old.spec.size


def apps_using(config: core_v1.ConfigMap, cached: sm.CacheReader) -> Iterable[App]:
    return cached.by_index(App, "config", config.name)


def apps_by_label(secret: core_v1.Secret, cached: sm.CacheReader) -> Iterable[sm.ObjectKey]:
    yield sm.ObjectKey(secret.namespace, secret.labels["app"])


def small_ones(cached: sm.CacheReader) -> list[App]:
    return [app for app in cached.list(App) if app.spec.size == 0]


async def from_outside() -> AsyncIterator[sm.ObjectKey]:
    yield sm.ObjectKey("default", "web")


composed = changed.any_of(changed.generation, changed.annotations, grows)
has_grown: bool = composed(None, App(spec=Spec()))

sm.Controller(App, reconcile=reconcile, when=changed.generation)
sm.Controller(App, reconcile=reconcile, when=grows)
sm.Controller(App, reconcile=reconcile, when=composed)
sm.Controller(App, reconcile=reconcile, when=changed.all_of(changed.not_(changed.labels), grows))
sm.Controller(App, reconcile=reconcile, when=lambda old, new: old is None or old.spec != new.spec)
controller: sm.Controller[App] = sm.Controller(
    App,
    reconcile=reconcile,
    owns=(
        sm.Owns(apps_v1.Deployment, when=changed.fields("status.readyReplicas")),
        core_v1.Service,
    ),
    watches=(
        sm.Watch(core_v1.ConfigMap, to=apps_using, when=changed.fields("data")),
        sm.Watch(core_v1.Secret, to=apps_by_label),
        sm.Watch(core_v1.Node),
    ),
    when=changed.any_of(changed.generation, changed.annotations),
    indexes={"config": lambda app: (app.spec.config,)},
    sources=(sm.Every(60), sm.Every(5, keys=small_ones), sm.Keys(from_outside, name="outside")),
)
changed.fields("spec.size", ("metadata", "annotations", "example.com/owner"))
