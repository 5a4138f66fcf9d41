"""PodDisruptionBudgets: whether a budget permits an eviction, and its status afterwards."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from steersman.names import GroupResource
from steersman.units import format_time
from steersman_cluster.apiserver.builtin.pods.pods import set_condition
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.request.selectors import label_selector

BUDGETS = GroupResource("policy", "poddisruptionbudgets")

# How many evictions may wait for the disruption controller to observe them.
MAX_DISRUPTED = 2000
# After how long a client may retry when the disruption controller has not observed the budget yet.
RETRY_SECONDS = 10

# Pods in these phases do not count as healthy, so that evicting one costs nothing.
_NOT_RUNNING = frozenset(("Succeeded", "Failed", "Pending"))

_ALLOWED = "DisruptionAllowed"


def charged_budget(pod: Object, budgets: Iterable[Object], *, now: datetime) -> Object | None:
    """Return the budget of ``pod`` with the status that it has after the eviction of ``pod``.

    Returns None if the eviction does not use a budget. ``budgets`` contains the budgets in the
    Pod's namespace. Raises a ``StatusError`` if the budget permits no disruption, or if several
    budgets select the Pod.
    """
    status: Object = pod.get("status") or {}
    if status.get("phase") in _NOT_RUNNING or "deletionTimestamp" in pod["metadata"]:
        return None
    labels = pod["metadata"].get("labels") or {}
    matching = [each for each in budgets if _selects(each, labels)]
    if len(matching) > 1:
        raise StatusError(
            500,
            "",
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does"
            " not support.",
        )
    if not matching or (not _is_ready(status) and _may_evict_unready(matching[0])):
        return None
    return _charged(matching[0], pod["metadata"]["name"], now=now)


def marked_disrupted(pod: Object, *, now: datetime) -> Object:
    """Return ``pod`` with the condition DisruptionTarget."""
    status = {**(pod.get("status") or {})}
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    set_condition(status, condition, now=now)
    return {**pod, "metadata": {**pod["metadata"]}, "status": status}


def _selects(budget: Object, labels: dict[str, str]) -> bool:
    try:
        return label_selector((budget.get("spec") or {}).get("selector")).matches(labels)
    except StatusError:  # an invalid selector selects nothing
        return False


def _is_ready(status: Object) -> bool:
    return (_condition(status, "Ready") or {}).get("status") == "True"


def _condition(status: Object, kind: str) -> Object | None:
    conditions: list[Object] = status.get("conditions") or []
    return next((each for each in conditions if each.get("type") == kind), None)


def _may_evict_unready(budget: Object) -> bool:
    """Return whether a Pod that is not ready may be evicted without using the budget."""
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    needed, there = _health(budget.get("status") or {})
    return there >= needed > 0


def _health(status: Object) -> tuple[int, int]:
    return status.get("desiredHealthy", 0), status.get("currentHealthy", 0)


def _charged(budget: Object, pod: str, *, now: datetime) -> Object:
    about, status = budget["metadata"], budget.get("status") or {}
    name, seen = about["name"], status.get("observedGeneration", 0)
    disrupted, left = status.get("disruptedPods") or {}, status.get("disruptionsAllowed", 0)
    if seen < about.get("generation", 0):
        why = f"The disruption budget {name} is still being processed by the server."
        raise _too_many_requests(why, retry_after_seconds=RETRY_SECONDS)
    if len(disrupted) > MAX_DISRUPTED:
        raise status_errors.forbidden(
            GroupResource("policy", "poddisruptionbudget"),
            name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        )
    if left <= 0:
        raise _too_many_requests(_why_not_allowed(name, status))
    after: dict[str, Any] = {
        "observedGeneration": seen,
        **status,
        "disruptedPods": {**disrupted, pod: format_time(now)},
        "disruptionsAllowed": left - 1,
    }
    if left == 1:
        _close(after, now=now)
    return {**budget, "metadata": {**about}, "status": after}


def _too_many_requests(why: str, *, retry_after_seconds: int = 0) -> StatusError:
    causes = [{"reason": "DisruptionBudget", "message": why}]
    return StatusError(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
        details={"causes": causes},
        retry_after_seconds=retry_after_seconds,
    )


def _why_not_allowed(name: str, status: Object) -> str:
    no = f"The disruption budget {name} does not allow evicting pods currently"
    condition = _condition(status, _ALLOWED) or {}
    said = condition.get("message") if condition.get("status") == "False" else ""
    # After a failed sync, the counts in the status are not valid.
    if said and condition.get("reason") == "SyncFailed":
        return f"{no} because it failed sync: {said}"
    needed, there = _health(status)
    if there <= needed:
        return f"The disruption budget {name} needs {needed} healthy pods and has {there} currently"
    return f"{no} ({condition.get('reason', '')}): {said}" if said else no


def _close(status: dict[str, Any], *, now: datetime) -> None:
    """Set the condition DisruptionAllowed to False: no more disruptions are permitted."""
    conditions: list[Object] = list(status.get("conditions") or ())
    old = _condition(status, _ALLOWED)
    since = old["lastTransitionTime"] if old and old.get("status") == "False" else format_time(now)
    closed = {
        "type": _ALLOWED,
        "status": "False",
        "observedGeneration": status["observedGeneration"],
        "lastTransitionTime": since,
        "reason": "InsufficientPods",
        "message": "",
    }
    if old is None:
        conditions.append(closed)
    else:
        conditions[conditions.index(old)] = closed
    status["conditions"] = conditions
