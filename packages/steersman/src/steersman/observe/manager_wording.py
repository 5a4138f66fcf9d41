"""What a log says of an operator as a whole, and how loudly."""

import logging
from typing import assert_never

from steersman.observe.manager_events import (
    CacheSyncOverdue,
    ClusterFound,
    LeaderChanged,
    LeadershipGained,
    LeadershipLost,
    LeadershipReleased,
    LeadershipRenewed,
    Listening,
    LivenessChanged,
    LoopBlocked,
    ManagerObservation,
    PermissionMissing,
    PermissionsUnknown,
    ReadinessChanged,
    RenewalFailed,
    RunnableFailed,
    ServerRecovered,
    ServerUnresponsive,
    StageReached,
    StopOverdue,
    StopRequested,
    WriteHeldBack,
)
from steersman.observe.phrases import Fields, length, raised, ref_fields


def level_of(observation: ManagerObservation) -> int:
    """How loud an observation is."""
    match observation:
        case LeadershipRenewed():
            return logging.DEBUG
        case LeaderChanged(holder=holder, identity=identity) if holder == identity:
            return logging.DEBUG  # LeadershipGained says so
        case LeaderChanged() | LeadershipGained() | LeadershipReleased():
            return logging.INFO
        case ClusterFound() | StageReached() | StopRequested() | Listening() | ServerRecovered():
            return logging.INFO
        case RenewalFailed() | WriteHeldBack() | LoopBlocked() | PermissionsUnknown():
            return logging.WARNING
        case ReadinessChanged(is_ready=is_ready):
            return logging.INFO if is_ready else logging.WARNING
        case LivenessChanged(is_alive=is_alive):
            return logging.INFO if is_alive else logging.ERROR
        case PermissionMissing(is_needed=is_needed):
            return logging.ERROR if is_needed else logging.WARNING
        case LeadershipLost() | StopOverdue() | RunnableFailed() | CacheSyncOverdue():
            return logging.ERROR
        case ServerUnresponsive():
            return logging.ERROR
        case _:
            assert_never(observation)


def describe(observation: ManagerObservation) -> tuple[str, Fields]:
    """What a log says of an observation: to those who read, and to those who search."""
    match observation:
        case LeaderChanged(holder=holder, identity=identity):
            who = "this replica" if holder == identity else holder or "nobody"
            return f"{observation.lease}: held by {who}", _fields(observation, holder=holder)
        case LeadershipGained(waited_seconds=waited):
            text = f"{observation.lease}: this replica leads, after {length(waited)}"
            return text, _fields(observation, waited_seconds=waited)
        case LeadershipRenewed(took_seconds=took):
            text = f"{observation.lease}: renewed in {length(took)}"
            return text, _fields(observation, took_seconds=took)
        case RenewalFailed(error=error, left_seconds=left):
            what = f"not renewed, with {length(left)} left to lead" if left else "out of reach"
            text = f"{observation.lease}: {what}: {error}"
            return text, _fields(observation, left_seconds=left, error=type(error).__name__)
        case LeadershipLost(reason=reason):
            text = f"{observation.lease}: this replica no longer leads: {reason}"
            return text, _fields(observation, reason=reason)
        case LeadershipReleased():
            text = f"{observation.lease}: released, for another replica to take at once"
            return text, _fields(observation)
        case WriteHeldBack(method=method, path=path):
            text = f"{method} {path}: not sent, because another replica may lead"
            return text, {"method": method, "path": path}
        case ClusterFound(server=server, source=source):
            return f"the cluster at {server}, as {source} says", {
                "server": server,
                "source": source,
            }
        case StageReached(stage=stage, took_seconds=took):
            return f"{stage}, after {length(took)}", {"stage": stage, "took_seconds": took}
        case StopRequested(signal=signal, grace_seconds=grace):
            text = f"asked to stop ({signal}), within {length(grace)}"
            return text, {"signal": signal, "grace_seconds": grace}
        case StopOverdue(what=what, seconds=seconds):
            text = f"{what} did not stop within {length(seconds)}, and is left behind"
            return text, {"what": what, "seconds": seconds}
        case PermissionMissing(what=what, rule=rule, is_needed=is_needed):
            harm = "" if is_needed else " (it works without, and does less)"
            text = f"the operator may not {what}{harm}. This rule would allow it: {rule}"
            return text, {"what": what, "rule": rule, "is_needed": is_needed}
        case PermissionsUnknown(what=what, error=error):
            text = f"nobody could tell whether the operator may {what}: {error}"
            return text, {"what": what, "error": type(error).__name__}
        case ServerUnresponsive(server=server, silent_seconds=seconds, watches=watches):
            text = (
                f"{server} has not answered for {length(seconds)}; watches that are opened again:"
                f" {', '.join(watches) or 'none'}"
            )
            return text, {"server": server, "silent_seconds": seconds, "watches": len(watches)}
        case ServerRecovered(server=server, silent_seconds=seconds):
            text = f"{server} answers again, after {length(seconds)}"
            return text, {"server": server, "silent_seconds": seconds}
        case CacheSyncOverdue(controller=controller, error=error):
            kinds = ", ".join(kind for kind, _ in error.pending)
            return str(error), {"controller": controller, "kinds": kinds}
        case ReadinessChanged(is_ready=is_ready, failing=failing):
            reasons = "; ".join(f"{name}: {why}" for name, why in failing)
            text = "ready" if is_ready else f"not ready: {reasons}"
            return text, {"is_ready": is_ready, "failing": ", ".join(name for name, _ in failing)}
        case LivenessChanged(is_alive=is_alive, failing=failing):
            reasons = "; ".join(f"{name}: {why}" for name, why in failing)
            text = "alive again" if is_alive else f"not alive: {reasons}"
            return text, {"is_alive": is_alive, "failing": ", ".join(name for name, _ in failing)}
        case LoopBlocked(seconds=seconds, controller=controller, ref=ref, stack=stack):
            whose = f" in the reconcile of {ref} by {controller}" if ref is not None else ""
            text = f"the event loop stood still for {length(seconds)}"
            text += (
                f"{whose}: {' > '.join(stack)}. Something computed or waited without await: make"
                f" that reconcile a plain function, and it gets a thread"
                if stack
                else ", and so did the thread that watches it: the process was stopped or got no"
                " CPU time, or an extension module held the GIL"
            )
            about = {} if ref is None else {"controller": controller, **ref_fields(ref)}
            return text, {"seconds": seconds, **about, "stack": "\n".join(stack)}
        case Listening(what=what, address=address):
            return f"{what} at {address}", {"what": what, "address": address}
        case RunnableFailed(runnable=runnable, error=error):
            text = f"{runnable} failed: {raised(error)}"
            return text, {"runnable": runnable, "error": type(error).__name__}
        case _:
            assert_never(observation)


_Led = (
    LeaderChanged
    | LeadershipGained
    | LeadershipRenewed
    | RenewalFailed
    | LeadershipLost
    | LeadershipReleased
)


def _fields(observation: _Led, **more: str | int | float) -> Fields:
    return {"identity": observation.identity, **ref_fields(observation.lease), **more}
