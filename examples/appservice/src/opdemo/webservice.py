"""WebService: an AppService under another name, with all that one has and does."""

import steersman as sm
from steersman import changed
from steersman.kinds import apps_v1, core_v1

from opdemo.appservice import CRD, RULES, Spec, Status, reconcile


class WebService(
    sm.CustomResource[Spec, Status], group="app.example.com", version="v1", crd=CRD, rules=RULES
):
    """An image kept running at a given size, reachable on a port of every node."""


controller = sm.Controller(
    WebService,
    reconcile=reconcile,
    owns=(apps_v1.Deployment, core_v1.Service),
    when=changed.generation,
    condition="Ready",
)
