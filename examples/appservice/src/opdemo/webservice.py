"""WebService: a second kind with the spec, the status and the behavior of AppService."""

import steersman as sm
from steersman import changed
from steersman.kinds import apps_v1, core_v1

from opdemo.appservice import CEL, CRD, Spec, Status, reconcile


class WebService(
    sm.CustomResource[Spec, Status],
    group="app.example.com",
    version="v1",
    crd=CRD,
    validations=CEL,
):
    """Runs an image in a Deployment, and exposes it on a port of every node."""


controller = sm.Controller(
    WebService,
    reconcile=reconcile,
    owns=(apps_v1.Deployment, core_v1.Service),
    when=changed.generation,
    condition="Ready",
)
