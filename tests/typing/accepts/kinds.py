"""Kinds as an author declares, creates, reads and changes them."""

from collections.abc import Mapping
from typing import Annotated, assert_type

import steersman as sm
from steersman import recipes
from steersman.kinds import Codec, Conversion, apiextensions_v1, apps_v1, core_v1, meta_v1
from steersman.manifests import crd_of
from steersman.units import Quantity


class Spec(sm.Part):
    image: str
    size: Annotated[int, sm.Rule(ge=0)] = 1
    ports: Annotated[tuple[core_v1.ServicePort, ...], sm.Rule(min_length=1)]
    envs: tuple[core_v1.EnvVar, ...] = ()
    resources: core_v1.ResourceRequirements | None = None


class Status(apps_v1.DeploymentStatus):
    """The Deployment's status, inlined."""


class AppService(sm.CustomResource[Spec, Status], group="app.example.com", version="v1"):
    """An image kept running."""


class OldAppService(
    sm.CustomResource[Spec, Status], group="app.example.com", version="v1beta1", kind="AppService"
):
    """The same, in an older version."""


class Mouse(sm.Resource, group="zoo.example.com", version="v1", plural="mice", namespaced=False):
    tail: int | None = None


class Login(sm.Part, wire_names={"user_id": "userID"}, sensitive={"password"}):
    user_id: str
    password: str


class Range(sm.Part, validations=(sm.Cel("self.low <= self.high", message="the wrong way round"),)):
    low: Annotated[int, sm.Cel("self >= 0", reason="FieldValueForbidden")] = 0
    high: int = 10


class Ranged(
    sm.CustomResource[Range, Status],
    group="app.example.com",
    version="v1",
    validations=[sm.Cel("self.metadata.name != 'none'")],
    crd=sm.Crd(
        short_names=("rg",),
        columns=(sm.Column("Low", ".spec.low", type="integer", priority=1),),
        scale=sm.ScalePaths(spec=".spec.low", status=".status.replicas"),
        selectable_fields=(".spec.low",),
        deprecated=True,
    ),
):
    """A range."""


class Foreign(sm.CustomResource[Range, Status], group="else.example.com", version="v1", crd=None):
    """A kind of another project."""


class Newest(
    sm.CustomResource[Spec, Status],
    group="app.example.com",
    version="v2",
    kind="AppService",
    crd=sm.Crd(also_serves=(AppService, OldAppService)),
):
    """The stored version."""


assert_type(Ranged.declared_crd, sm.Crd | None)
assert_type(crd_of(Ranged), apiextensions_v1.CustomResourceDefinition)

app = AppService(
    metadata=meta_v1.ObjectMeta(name="web", labels={"tier": "front"}),
    spec=Spec(image="nginx", ports=(core_v1.ServicePort(port=80, target_port="http"),)),
)
assert_type(app.spec, Spec)
assert_type(app.spec.size, int)
assert_type(app.status, Status | None)
assert_type(app.labels, Mapping[str, str])
assert_type(app.metadata.labels, Mapping[str, str] | None)
if app.status is not None:
    assert_type(app.status.conditions, tuple[apps_v1.DeploymentCondition, ...] | None)

bigger = sm.replace(app, spec=sm.replace(app.spec, size=3))
assert_type(bigger, AppService)


def spec_of(resource: sm.CustomResource[sm.Part, sm.Part]) -> sm.Part:
    return resource.spec


spec_of(app)

container = core_v1.Container(
    name=app.name,
    image=app.spec.image,
    resources=core_v1.ResourceRequirements(limits={"cpu": Quantity("500m")}),
    args=(),
)
deployment = apps_v1.Deployment(
    spec=apps_v1.DeploymentSpec(
        selector=meta_v1.LabelSelector(match_labels={"app": "web"}),
        template=core_v1.PodTemplateSpec(spec=core_v1.PodSpec(containers=(container,))),
    )
)
secret = core_v1.Secret(data={"key": b"value"})

# Every built-in condition is a Condition.
condition: sm.Condition = apps_v1.DeploymentCondition(type="Available", status="True")
ready = sm.Condition.when(condition.is_true, "Ready", yes="RolledOut", no="RollingOut")

# A status that is created from another keeps its own class.
status = Status.inlining(deployment.status).with_condition(ready)
assert_type(status, Status)
assert_type(apps_v1.DeploymentStatus.inlining(None), apps_v1.DeploymentStatus)
assert_type(sm.is_ready(deployment), bool)

# Recipes create objects of the kind in their name.
assert_type(sm.recipes.deployment("web", container, replicas=None), apps_v1.Deployment)
assert_type(recipes.service("web", app.spec.ports, type="NodePort"), core_v1.Service)

codec = Codec()
assert_type(codec.decode(AppService, b"{}", wanted="read"), AppService)
assert_type(codec.decode_list(core_v1.Pod, b"{}", wanted="list").items, tuple[core_v1.Pod, ...])

Widget = sm.Unstructured.of("example.com/v1", "Widget")
widget = codec.decode(Widget, b"{}", wanted="read")
assert_type(widget, sm.Unstructured)


def up(old: OldAppService) -> AppService:
    return AppService(metadata=old.metadata, spec=old.spec, status=old.status)


def down(new: AppService) -> OldAppService:
    return OldAppService(metadata=new.metadata, spec=new.spec, status=new.status)


scheme = sm.Scheme(
    [AppService, OldAppService, Mouse],
    conversions=[Conversion(older=OldAppService, newer=AppService, up=up, down=down)],
)
assert_type(scheme.convert(app, OldAppService), OldAppService)
