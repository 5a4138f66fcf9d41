"""The options of a manager, and the options that are rejected."""

from typing import Any

import prometheus_client
import pytest

import steersman as sm
from steersman.cache import InformerSettings
from steersman.client import ClientSettings
from steersman.controller.rbac import permissions
from steersman.errors import BadManager, BadName, BadValue
from steersman.kinds import Unstructured, core_v1
from steersman.manager import HealthCheck, Manager, ManagerSettings, Runnable
from tests.unit.controller.apps import App


async def reconcile(obj: App, ctx: sm.Context) -> sm.Outcome:
    raise NotImplementedError


async def run(services: sm.Services) -> None:
    raise NotImplementedError


def well(services: sm.Services) -> str | None:
    raise NotImplementedError


CONTROLLER = sm.Controller(App, reconcile=reconcile, watches=(sm.Watch(core_v1.Secret),))


def counter(name: str) -> prometheus_client.Counter:
    return prometheus_client.Counter(name, "Counts.", registry=None)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"lifespan": 3}, "its lifespan is an object of int"),
        ({"metrics": [3]}, "an object of int in its metrics is not a metric"),
        ({"metrics": [counter("one"), counter("one")]}, "two metrics have the same name"),
        ({"metrics": [counter("process_cpu_seconds")]}, "the prefixes steersman_, controller"),
        ({"metrics": [counter("workqueue_depth")]}, "the prefixes steersman_, controller"),
        ({"healthz": [well]}, "its healthz must contain only HealthCheck"),
        (
            {"readyz": [sm.HealthCheck("a", well), sm.HealthCheck("a", well)]},
            "two of its readyz have the same name",
        ),
        ({"client": ClientSettings(dry_run=True)}, "its client sets dry_run"),
        ({"caches": [core_v1.Secret]}, "its caches must contain only CacheOptions"),
        (
            {"caches": [sm.CacheOptions(core_v1.Pod)]},
            "which its controllers and runnables do not watch",
        ),
        (
            {"caches": [sm.CacheOptions(core_v1.Secret), sm.CacheOptions(core_v1.Secret)]},
            "it has two CacheOptions for v1 Secret",
        ),
        (
            {
                "caches": [
                    sm.CacheOptions(Unstructured.of("v1", "Secret"), transform=lambda obj: obj)
                ]
            },
            "the kind is watched as another class",
        ),
    ],
)
def test_invalid_options_are_rejected_when_the_manager_is_created(wrong: Any, says: str) -> None:
    with pytest.raises(BadManager, match="the manager is invalid") as raised:
        Manager(controllers=[CONTROLLER], **wrong)

    assert says in str(raised.value)


@pytest.mark.parametrize(
    "made",
    [
        lambda: sm.HealthCheck("", well),
        lambda: sm.HealthCheck("a\nb", well),
        lambda: sm.HealthCheck("a", "well"),  # type: ignore[arg-type]
        lambda: sm.HealthCheck("a", well, every_seconds=0),
    ],
)
def test_an_invalid_health_check_is_rejected(made: Any) -> None:
    with pytest.raises(BadManager, match="health check"):
        made()


@pytest.mark.parametrize(
    "made",
    [
        lambda: sm.CacheOptions("Secret"),  # type: ignore[arg-type]
        lambda: sm.CacheOptions(core_v1.Secret, namespaces="vault"),  # type: ignore[arg-type]
        lambda: sm.CacheOptions(core_v1.Secret, namespaces=("Not A Name",)),
        lambda: sm.CacheOptions(core_v1.Node, namespaces=("vault",)),
        lambda: sm.CacheOptions(core_v1.Secret, transform=3),  # type: ignore[arg-type]
    ],
)
def test_invalid_cache_options_are_rejected(made: Any) -> None:
    with pytest.raises((BadValue, BadName)):
        made()


def test_a_kind_that_a_runnable_watches_has_options_too() -> None:
    runnable = Runnable(run, watches=(core_v1.Pod,))

    manager = Manager(runnables=[runnable], caches=[sm.CacheOptions(core_v1.Pod)])

    assert manager.options.caches[0].kind is core_v1.Pod


def test_permissions_for_a_kind_are_in_the_namespaces_of_its_cache() -> None:
    caches = (sm.CacheOptions(core_v1.Secret, namespaces=("vault",)),)

    rules = permissions([CONTROLLER], lease=None, namespaces=("one", "two"), caches=caches)

    assert [str(rule) for rule in rules if rule.resource == "secrets"] == [
        "get, list, watch secrets in namespace vault"
    ]
    assert {rule.namespace for rule in rules if rule.resource == "apps"} == {"one", "two"}


def test_an_adjusted_manager_keeps_the_other_options() -> None:
    check = HealthCheck("well", well)
    settings, informers = ManagerSettings(grace_seconds=3.0), InformerSettings(check_seconds=5.0)
    manager = Manager(controllers=[CONTROLLER], settings=settings, healthz=[check])

    other = manager.with_options(informers=informers, readyz=[check])

    assert (other.settings, other.informers) == (settings, informers)
    assert (other.options.healthz, other.options.readyz) == ((check,), (check,))
    assert (manager.informers, manager.options.readyz) == (InformerSettings(), ())
