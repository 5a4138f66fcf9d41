"""Rows of devices, and claims to them."""

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.tables.printers import aged, at, named, part, printer, told


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


RESOURCE_CLAIM = printer(named(), told("State", _state), aged())
DEVICE_CLASS = printer(named(), aged())
RESOURCE_CLAIM_TEMPLATE = printer(named(), aged())
RESOURCE_SLICE = printer(
    named(),
    told("Node", at("spec.nodeName")),
    told("Driver", at("spec.driver")),
    told("Pool", at("spec.pool.name")),
    aged(),
)
