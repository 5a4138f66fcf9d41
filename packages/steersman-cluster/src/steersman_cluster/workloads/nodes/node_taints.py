"""The taints that the node lifecycle controller sets for the state of a node. No I/O."""

from datetime import datetime
from typing import Final

from steersman.kinds import core_v1

NOT_READY: Final = "node.kubernetes.io/not-ready"
CORDONED: Final = "node.kubernetes.io/unschedulable"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"

_STATES: Final = (NOT_READY, CORDONED, UNREACHABLE)

#: An annotation of a Node: ``"true"`` if its kubelet is simulated.
SIMULATED_NODE: Final = "nodes.steersman.dev/simulated"


def is_simulated_node(node: core_v1.Node) -> bool:
    """Return whether the kubelet of ``node`` is simulated."""
    return (node.metadata.annotations or {}).get(SIMULATED_NODE) == "true"


def node_taints(
    node: core_v1.Node, *, now: datetime, is_responsive: bool
) -> tuple[core_v1.Taint, ...]:
    """Return the taints that ``node`` should have.

    The taint for an unreachable node depends on ``is_responsive``, the taint for a cordoned node on
    ``spec.unschedulable``. Other taints of the node are preserved.
    """
    spec = node.spec or core_v1.NodeSpec()
    has = spec.taints or ()
    wanted = [core_v1.Taint(key=CORDONED, effect="NoSchedule")] if spec.unschedulable else []
    if not is_responsive:
        wanted += [
            core_v1.Taint(key=UNREACHABLE, effect=effect, time_added=now)
            for effect in ("NoSchedule", "NoExecute")
        ]
    needed = {(each.key, each.effect) for each in wanted}
    kept = [each for each in has if each.key not in _STATES or (each.key, each.effect) in needed]
    there = {(each.key, each.effect) for each in kept}
    return (*kept, *(each for each in wanted if (each.key, each.effect) not in there))


def has_taint(node: core_v1.Node, key: str) -> bool:
    """Return whether ``node`` has a taint with the key ``key``."""
    return any(each.key == key for each in (node.spec.taints if node.spec else None) or ())
