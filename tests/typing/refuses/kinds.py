"""Kinds are frozen and keyword-only, with exactly the fields they have."""

import steersman as sm
from steersman.kinds import Codec, Conversion, apps_v1, core_v1, meta_v1


class Spec(sm.Part):
    image: str
    size: int = 1
    ports: tuple[core_v1.ServicePort, ...] = ()


class Status(sm.Part):
    ready: bool | None = None


class App(sm.CustomResource[Spec, Status], group="app.example.com", version="v1"):
    """An image kept running."""


class OldApp(sm.CustomResource[Spec, Status], group="app.example.com", version="v1beta1"):
    """The same, in an older version."""


class Misspelt(sm.Resource, group="app.example.com", version="v1", plurals="misspelt"):  # refused
    pass


class NoResource(sm.Part, group="app.example.com", version="v1"):  # refused
    pass


class Wrong(sm.Resource, group="app.example.com", version=1):  # refused
    pass


class NotCels(sm.Part, validations=("self.low > 0",)):  # refused
    low: int


class NoPart(sm.Part, crd=sm.Crd()):  # refused
    pass


class NotACrd(sm.Resource, group="app.example.com", version="v1", crd=True):  # refused
    pass


sm.Column("Low", ".spec.low", type="int")  # refused
sm.ScalePaths(spec=".spec.low")  # refused
sm.Cel("self > 0", reason="Wrong")  # refused
sm.Crd(("short",))  # refused
sm.Rule(nullable="yes")  # refused

app = App(metadata=meta_v1.ObjectMeta(name="web"), spec=Spec(image="nginx"))

# The front door has what it has.
rudder = sm.Rudder  # refused

# Nothing is assigned to, at any depth.
app.spec.size = 3  # refused
app.metadata.name = "other"  # refused
app.spec = Spec(image="other")  # refused
app.kind = "Other"  # refused

# Nor changed in place.
app.labels["tier"] = "front"  # refused
app.spec.ports.append(core_v1.ServicePort(port=80))  # refused
app.spec.ports[0] = core_v1.ServicePort(port=80)  # refused

# What is required is given, by its name.
Spec()  # refused
App(metadata=meta_v1.ObjectMeta(name="web"))  # refused
core_v1.ServicePort(name="http")  # refused
Spec("nginx")  # refused
Spec(image="nginx", replicas=3)  # refused

# Each field has its own kind of value.
Spec(image=3)  # refused
Spec(image="nginx", size="3")  # refused
Spec(image="nginx", ports=[core_v1.ServicePort(port=80)])  # refused
App(spec=Status())  # refused
apps_v1.Deployment(spec=core_v1.PodSpec(containers=()))  # refused
core_v1.ResourceRequirements(limits={"cpu": "500m"})  # refused
core_v1.Secret(data={"key": "value"})  # refused
condition: apps_v1.DeploymentCondition = sm.Condition(type="Ready", status="True")  # refused

# Only parts are inlined, and only conditions are conditions.
Status.inlining({"ready": True})  # refused
Status.inlining(None).with_condition("Ready")  # refused
sm.is_ready(None)  # refused
sm.recipes.service("web", (), type="Nodeport")  # refused
sm.recipes.deployment("web", "nginx")  # refused

# What may be missing is not used as if it were there.
ready = app.status.ready  # refused

Codec().decode(str, b"{}", wanted="read")  # refused
Codec().decode_list(Spec, b"{}", wanted="list")  # refused
pod: core_v1.Pod = Codec().decode(core_v1.Service, b"{}", wanted="read")  # refused


def up(old: OldApp) -> App:
    return App(metadata=old.metadata, spec=old.spec)


Conversion(older=OldApp, newer=App, up=up, down=up)  # refused
