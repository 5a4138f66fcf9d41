"""What the tests of the client share: a custom kind, and a client on a scripted server."""

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
    """A kind that lives in namespaces."""


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
    """A kind that lives in none."""


def widget(
    name: str = "web", *, size: Any = 3, version: str = "7", **metadata: Any
) -> dict[str, Any]:
    """A Widget as the server sends it."""
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
    """A page of Widgets as the server sends it."""
    return {
        "apiVersion": "example.com/v1",
        "kind": "WidgetList",
        "metadata": {"resourceVersion": version, "continue": token, **metadata},
        "items": items,
    }


class Fixture:
    """A client, the server it talks to, the clock both go by, and what was observed."""

    def __init__(
        self,
        *script: Scripted,
        answering: Callable[[Request], Scripted] | None = None,
        clock: FakeClock | None = None,
        settings: ClientSettings | None = None,
    ) -> None:
        self.server = ScriptedTransport(*script, answering=answering)
        self.clock = clock or FakeClock()
        self.observed: list[Observation] = []
        self.client = Client(
            self.server,
            clock=self.clock,
            rng=Random(0),
            observe=self.observed.append,
            settings=settings,
        )
