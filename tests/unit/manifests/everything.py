"""A kind with every feature of a definition, and two older versions of it."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from enum import Enum, IntEnum
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar
from uuid import UUID

import steersman as sm
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman.units import IntOrString, MicroTime, Quantity

T = TypeVar("T", bound=sm.Part)
Hostname = NewType("Hostname", str)


class Mode(Enum):
    """How to go about it."""

    FAST = "fast"
    SAFE = "safe"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Listener(sm.Part):
    """A port that a container listens on."""

    port_number: Annotated[int, sm.Rule(ge=1, le=65535, format="int32")]
    protocol: Literal["TCP", "UDP"] = "TCP"
    hostname: Hostname | None = None


class Window(sm.Part, validations=(sm.Cel("self.low <= self.high", message="low is above high"),)):
    """A range, whose ends belong to it.

    It is never
    empty:

    - one
    - two
    """

    low: int = 0
    high: int = 10


class Wrapped(sm.Part, Generic[T]):
    inner: T
    note: str = "none"


class Spec(
    sm.Part,
    wire_names={"cluster_ip": "clusterIP"},
    validations=(
        sm.Cel(
            "!has(self.minSize) || self.minSize <= self.size",
            message_expression="'more are wanted of ' + self.image",
            reason="FieldValueForbidden",
            field_path=".size",
        ),
    ),
):
    size: Annotated[int, sm.Rule(ge=0, lt=100)] = 1
    """How many there
    should be."""
    min_size: Annotated[int, sm.Rule(gt=-1, multiple_of=2)] | None = None
    ratio: Annotated[float, sm.Rule(ge=0.5, le=2.5)] = 1.5
    enabled: bool = True
    image: Annotated[str, sm.Rule(min_length=1, max_length=40, pattern=r"^[a-z0-9:./-]+$")]
    """What runs.

    A name, and perhaps a tag.
    """
    class_name: Annotated[
        str,
        sm.Rule(title="The class", example="gold", max_length=10),
        sm.Cel("self == oldSelf", message="the class stays"),
    ] = "gold"
    cluster_ip: Annotated[str, sm.Rule(format="ipv4")] | None = None
    mode: Mode = Mode.SAFE
    level: Level | None = None
    strategy: Literal["Recreate", "Rolling"] | None = None
    digit: Literal[1, 2, 3] = 3
    surge: IntOrString = "25%"
    storage: Quantity = Quantity("1Gi")
    limits: Mapping[str, Quantity] | None = None
    since: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    ticked: MicroTime | None = None
    day: date | None = None
    serial: UUID | None = None
    key: bytes | None = None
    window: Window = Window(low=2)
    wrapped: Wrapped[Listener] | None = None
    listeners: Annotated[
        tuple[Listener, ...],
        sm.Rule(list_type="map", list_map_keys=("port_number", "protocol"), max_length=4),
    ] = ()
    zones: Annotated[tuple[str, ...], sm.Rule(list_type="set", min_length=1)] = ("a",)
    words: tuple[Annotated[str, sm.Rule(max_length=5)], ...] = ()
    matrix: tuple[tuple[int | None, ...], ...] | None = None
    labels: Annotated[Mapping[str, str], sm.Rule(map_type="atomic", max_length=3)] | None = None
    weights: Mapping[str, float | None] | None = None
    choice: Annotated[str | None, sm.Rule(nullable=True)] = None
    must_say: int | None
    may_unsay: str | None = "said"
    anything: Any = None
    bag: Mapping[str, Any] | None = None
    partly: Annotated[Listener, sm.Rule(preserve_unknown_fields=True)] | None = None
    template: core_v1.PodTemplateSpec | None = None
    loose_template: Annotated[core_v1.PodTemplateSpec, sm.Rule(opaque=True)] | None = None
    config: core_v1.ConfigMap | None = None
    some_object: Annotated[Mapping[str, Any], sm.Rule(embedded_resource=True)] | None = None
    loose_secret: Annotated[core_v1.Secret, sm.Rule(opaque=True)] | None = None
    selector: meta_v1.LabelSelector | None = None
    envs: tuple[core_v1.EnvVar, ...] = ()


class Status(apps_v1.DeploymentStatus):
    """What became of it."""

    selector: str | None = None
    """By which its Pods are found."""
    phase: Literal["Pending", "Ready"] = "Pending"
    others: tuple[sm.Condition, ...] | None = None


class OldSpec(sm.Part):
    size: int = 1
    image: str | None = None


class OldStatus(sm.Part):
    replicas: int | None = None


class OldEverything(
    sm.CustomResource[OldSpec, OldStatus],
    group="every.example.com",
    version="v1beta1",
    kind="Everything",
    plural="everythings",
    crd=sm.Crd(
        deprecated="every.example.com/v1beta1 Everything is old; use v1",
        columns=(sm.Column("Size", ".spec.size"),),
    ),
):
    """As it was."""


class GoneEverything(
    sm.CustomResource[OldSpec, OldStatus],
    group="every.example.com",
    version="v1alpha1",
    kind="Everything",
    plural="everythings",
    crd=sm.Crd(served=False, deprecated=True),
):
    """As it once was."""


class Everything(
    sm.CustomResource[Spec, Status],
    group="every.example.com",
    version="v1",
    plural="everythings",
    validations=(sm.Cel("self.metadata.name.size() <= 30", message="the name is too long"),),
    crd=sm.Crd(
        short_names=("ev", "evs"),
        categories=("all",),
        singular="everything",
        list_kind="EverythingCollection",
        columns=(
            sm.Column("Size", ".spec.size", description="How many."),
            sm.Column("Mode", ".spec.mode", type="string", priority=1),
            sm.Column("Ready", '.status.others[?(@.type=="Ready")].status'),
            sm.Column("Note", r".metadata.annotations.example\.com/note"),
            sm.Column("Age", ".metadata.creationTimestamp"),
        ),
        scale=sm.ScalePaths(
            spec=".spec.size", status=".status.replicas", selector=".status.selector"
        ),
        selectable_fields=(".spec.image", ".spec.mode"),
        also_serves=(OldEverything, GoneEverything),
    ),
):
    """All that a definition can say.

    In one kind.
    """
