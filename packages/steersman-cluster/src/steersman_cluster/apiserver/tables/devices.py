"""The table rows of devices and device claims, for dynamic resource allocation."""

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.tables.printers import (
    age_column,
    at,
    column,
    name_column,
    part,
    printer,
)


def _state(claim: Object, _: Ages) -> str:
    is_ending = claim["metadata"].get("deletionTimestamp") is not None
    states = ["deleted"] if is_ending else []
    status = part(claim, "status")
    if status.get("allocation") is not None:
        states.append("allocated")
        if status.get("reservedFor"):
            states.append("reserved")
    elif not is_ending:
        states.append("pending")
    return ",".join(states)


RESOURCE_CLAIM = printer(name_column(), column("State", _state), age_column())
DEVICE_CLASS = printer(name_column(), age_column())
RESOURCE_CLAIM_TEMPLATE = printer(name_column(), age_column())
RESOURCE_SLICE = printer(
    name_column(),
    column("Node", at("spec.nodeName")),
    column("Driver", at("spec.driver")),
    column("Pool", at("spec.pool.name")),
    age_column(),
)
