"""Kinds are frozen and keyword-only, with exactly their declared fields."""

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


class Misspelt(sm.Resource, group="app.example.com", version="v1", plurals="misspelt"):  # rejected
    pass


class NoResource(sm.Part, group="app.example.com", version="v1"):  # rejected
    pass


class Wrong(sm.Resource, group="app.example.com", version=1):  # rejected
    pass


class NotCels(sm.Part, validations=("self.low > 0",)):  # rejected
    low: int


class NoPart(sm.Part, crd=sm.Crd()):  # rejected
    pass


class NotACrd(sm.Resource, group="app.example.com", version="v1", crd=True):  # rejected
    pass


sm.Column("Low", ".spec.low", type="int")  # rejected
sm.ScalePaths(spec=".spec.low")  # rejected
sm.Cel("self > 0", reason="Wrong")  # rejected
sm.Crd(("short",))  # rejected
sm.Rule(nullable="yes")  # rejected

app = App(metadata=meta_v1.ObjectMeta(name="web"), spec=Spec(image="nginx"))

# Unknown public names.
rudder = sm.Rudder  # rejected

# Fields cannot be assigned, at any depth.
app.spec.size = 3  # rejected
app.metadata.name = "other"  # rejected
app.spec = Spec(image="other")  # rejected
app.kind = "Other"  # rejected

# Values cannot be changed in place.
app.labels["tier"] = "front"  # rejected
app.spec.ports.append(core_v1.ServicePort(port=80))  # rejected
app.spec.ports[0] = core_v1.ServicePort(port=80)  # rejected

# Required fields must be given by name.
Spec()  # rejected
App(metadata=meta_v1.ObjectMeta(name="web"))  # rejected
core_v1.ServicePort(name="http")  # rejected
Spec("nginx")  # rejected
Spec(image="nginx", replicas=3)  # rejected

# Each field has a type.
Spec(image=3)  # rejected
Spec(image="nginx", size="3")  # rejected
Spec(image="nginx", ports=[core_v1.ServicePort(port=80)])  # rejected
App(spec=Status())  # rejected
apps_v1.Deployment(spec=core_v1.PodSpec(containers=()))  # rejected
core_v1.ResourceRequirements(limits={"cpu": "500m"})  # rejected
core_v1.Secret(data={"key": "value"})  # rejected
condition: apps_v1.DeploymentCondition = sm.Condition(type="Ready", status="True")  # rejected

# Only parts can be inlined, and only conditions can be added.
Status.inlining({"ready": True})  # rejected
Status.inlining(None).with_condition("Ready")  # rejected
sm.is_ready(None)  # rejected
sm.recipes.service("web", (), type="Nodeport")  # rejected
sm.recipes.deployment("web", "nginx")  # rejected

# An optional value must be checked for None.
ready = app.status.ready  # rejected

Codec().decode(str, b"{}", wanted="read")  # rejected
Codec().decode_list(Spec, b"{}", wanted="list")  # rejected
pod: core_v1.Pod = Codec().decode(core_v1.Service, b"{}", wanted="read")  # rejected


def up(old: OldApp) -> App:
    return App(metadata=old.metadata, spec=old.spec)


Conversion(older=OldApp, newer=App, up=up, down=up)  # rejected
