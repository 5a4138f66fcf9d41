"""HorizontalPodAutoscalers."""

from steersman.apiserver.builtin.autoscaler_versions import (
    UTILIZATION_PERCENT,
    default_behavior,
    utilization_metric,
)
from steersman.apiserver.builtin.filling import fill, fill_empty
from steersman.apiserver.names_rules import subdomain_name
from steersman.apiserver.rules import Object, Rules, Surroundings


def _default(autoscaler: Object) -> None:
    spec = autoscaler.setdefault("spec", {})
    fill(spec, minReplicas=1)
    if autoscaler.get("apiVersion") == "autoscaling/v1":
        # The other defaults need what its annotations carry: the conversion sees to them.
        return
    fill_empty(spec, metrics=[utilization_metric(UTILIZATION_PERCENT)])
    if "behavior" in spec:
        default_behavior(spec["behavior"])


def _prepare_create(autoscaler: Object, _: Surroundings) -> None:
    autoscaler["status"] = {"desiredReplicas": 0, "currentMetrics": None}


HORIZONTAL_POD_AUTOSCALER = Rules(
    default=_default,
    prepare_create=_prepare_create,
    name_errors=subdomain_name,
    has_status=True,
)
