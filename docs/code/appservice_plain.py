"""AppService once more, with a plain function: it runs in a thread, and may block there."""

from opdemo.appservice import App, AppService, Status, container_of

import steersman as sm
from steersman import changed, recipes
from steersman.kinds import apps_v1, core_v1


def reconcile(app: App, ctx: sm.BlockingContext) -> sm.Outcome:
    deployment = ctx.apply_owned(
        recipes.deployment(app.name, container_of(app), replicas=app.spec.size)
    )
    ctx.apply_owned(recipes.service(app.name, app.spec.ports, type="NodePort"))
    ready = sm.Condition.when(sm.is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut")
    ctx.apply_status(app, Status.inlining(deployment.status).with_condition(ready))
    return sm.Done() if ready.is_true else sm.Later()


controller = sm.Controller(
    AppService,
    reconcile=reconcile,
    owns=(apps_v1.Deployment, core_v1.Service),
    when=changed.generation,
    condition="Ready",
)
