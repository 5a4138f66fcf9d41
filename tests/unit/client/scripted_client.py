"""A custom kind for the tests of the client, and a client with a scripted server."""

from collections.abc import Callable
from random import Random
from typing import Any

from steersman.client import Client, ClientSettings
from steersman.kinds import Condition, CustomResource, Part, Unstructured, meta_v1
from steersman.observe import Observation
from steersman.wire import Request
from tests.clocks import FakeClock
from tests.transports import Scripted, ScriptedTransport


class WidgetSpec(Part):
    size: int
    colour: str | None = None


class WidgetStatus(Part):
    conditions: tuple[Condition, ...] | None = None


class Widget(CustomResource[WidgetSpec, WidgetStatus], group="example.com", version="v1"):
    """A namespaced kind."""


LooseWidget = Unstructured.of("example.com/v1", "Widget")

TYPED = Widget(
    metadata=meta_v1.ObjectMeta(name="web", namespace="default"), spec=WidgetSpec(size=3)
)


class Galaxy(
    CustomResource[WidgetSpec, WidgetStatus],
    group="example.com",
    version="v1",
    plural="galaxies",
    namespaced=False,
):
    """A cluster-scoped kind."""


def widget(
    name: str = "web", *, size: Any = 3, version: str = "7", **metadata: Any
) -> dict[str, Any]:
    """A Widget as the server returns it."""
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": "u-1",
            "resourceVersion": version,
            **metadata,
        },
        "spec": {"size": size},
    }


def widgets(
    *items: dict[str, Any], version: str = "9", token: str = "", **metadata: Any
) -> dict[str, Any]:
    """A page of Widgets as the server returns it."""
    return {
        "apiVersion": "example.com/v1",
        "kind": "WidgetList",
        "metadata": {"resourceVersion": version, "continue": token, **metadata},
        "items": items,
    }


class ScriptedClient:
    """A client with a scripted server, a fake clock and the observations."""

    def __init__(
        self,
        *script: Scripted,
        respond: Callable[[Request], Scripted] | None = None,
        clock: FakeClock | None = None,
        settings: ClientSettings | None = None,
    ) -> None:
        self.server = ScriptedTransport(*script, respond=respond)
        self.clock = clock or FakeClock()
        self.observed: list[Observation] = []
        self.client = Client(
            self.server,
            clock=self.clock,
            rng=Random(0),
            observe=self.observed.append,
            settings=settings,
        )
