"""Evictions: disruption budgets, their statuses, and deleted Pods."""

from collections.abc import Iterator
from typing import Any

import pytest

from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.calls import HttpCaller, HttpResponse

MERGE = "application/merge-patch+json"
BUDGET_VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget."
FAILED = {"type": "DisruptionAllowed", "status": "False", "message": "why not"}


class EvictionRequests:
    """Pods and disruption budgets of one namespace, and evictions."""

    def __init__(self, admin: HttpCaller, namespace: str) -> None:
        self.admin = admin
        self.pods = f"/api/v1/namespaces/{namespace}/pods"
        self.budgets = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"

    def create_pod(self, name: str, *, phase: str = "Running", ready: bool = True) -> None:
        spec = {"nodeName": "node", "containers": [{"name": "main", "image": "image"}]}
        labels = {"app": "web"}
        self.admin.call(
            "POST", self.pods, {"metadata": {"name": name, "labels": labels}, "spec": spec}
        )
        condition = {"type": "Ready", "status": "True" if ready else "False"}
        status = {"phase": phase, "conditions": [condition]}
        path = f"{self.pods}/{name}/status"
        assert self.admin.call("PATCH", path, {"status": status}, sends=MERGE).status == 200

    def create_budget(
        self, count: int, *, name: str = "budget", policy: str | None = None, **status: Any
    ) -> None:
        spec: dict[str, Any] = {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 1}
        if policy is not None:
            spec["unhealthyPodEvictionPolicy"] = policy
        self.admin.call("POST", self.budgets, {"metadata": {"name": name}, "spec": spec})
        budget_status = {"observedGeneration": 1, "disruptionsAllowed": count, **status}
        path = f"{self.budgets}/{name}/status"
        assert self.admin.call("PATCH", path, {"status": budget_status}, sends=MERGE).status == 200

    def evict(self, name: str, *, query: str = "", **options: Any) -> HttpResponse:
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name},
            "deleteOptions": options,
        }
        return self.admin.call("POST", f"{self.pods}/{name}/eviction{query}", body)

    def budget(self) -> Any:
        return self.admin.call("GET", f"{self.budgets}/budget").json()

    def pod(self, name: str) -> Any:
        return self.admin.call("GET", f"{self.pods}/{name}").json()


@pytest.fixture
def evictions(control_plane: ControlPlane, namespace: str) -> Iterator[EvictionRequests]:
    with control_plane.caller() as admin:
        yield EvictionRequests(admin, namespace)


def test_an_eviction_decrements_disruptions_allowed(evictions: EvictionRequests) -> None:
    evictions.create_pod("web")
    evictions.create_budget(1)

    response = evictions.evict("web")

    assert response.status == 201
    after = evictions.budget()
    assert after["status"]["disruptionsAllowed"] == 0
    assert list(after["status"]["disruptedPods"]) == ["web"]
    [condition] = after["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "InsufficientPods")
    assert condition["observedGeneration"] == 1
    assert "kube-apiserver" in [each["manager"] for each in after["metadata"]["managedFields"]]
    pod = evictions.pod("web")
    assert "deletionTimestamp" in pod["metadata"]
    [target] = [each for each in pod["status"]["conditions"] if each["type"] == "DisruptionTarget"]
    assert (target["reason"], target["message"]) == (
        "EvictionByEvictionAPI",
        "Eviction API: evicting",
    )


BUDGET_ERRORS: list[tuple[dict[str, Any], str]] = [
    (
        {"desiredHealthy": 2, "currentHealthy": 2},
        "The disruption budget budget needs 2 healthy pods and has 2 currently",
    ),
    (
        {"desiredHealthy": 1, "currentHealthy": 2},
        "The disruption budget budget does not allow evicting pods currently",
    ),
    (
        {"currentHealthy": 2, "conditions": [{**FAILED, "reason": "SyncFailed"}]},
        "The disruption budget budget does not allow evicting pods currently because it failed"
        " sync: why not",
    ),
    (
        {"currentHealthy": 2, "conditions": [{**FAILED, "reason": "InsufficientPods"}]},
        "The disruption budget budget does not allow evicting pods currently (InsufficientPods):"
        " why not",
    ),
]


@pytest.mark.parametrize(("status", "why"), BUDGET_ERRORS)
def test_an_exhausted_budget_is_an_error_with_the_reason(
    status: dict[str, Any], why: str, evictions: EvictionRequests
) -> None:
    for each in status.get("conditions", ()):
        each["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    evictions.create_pod("web")
    evictions.create_budget(0, **status)

    response = evictions.evict("web")

    body = response.json()
    assert (response.status, body["reason"], body["message"]) == (
        429,
        "TooManyRequests",
        BUDGET_VIOLATED,
    )
    assert body["details"] == {"causes": [{"reason": "DisruptionBudget", "message": why}]}


def test_a_budget_that_no_controller_has_observed_yet_is_an_error_with_retry_after(
    evictions: EvictionRequests,
) -> None:
    evictions.create_pod("web")
    evictions.create_budget(1, observedGeneration=0)

    response = evictions.evict("web")

    why = "The disruption budget budget is still being processed by the server."
    assert (response.status, response.json()["details"]) == (
        429,
        {"causes": [{"reason": "DisruptionBudget", "message": why}], "retryAfterSeconds": 10},
    )


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_a_pod_that_is_not_running_is_evicted_without_a_disruption_of_the_budget(
    phase: str, evictions: EvictionRequests
) -> None:
    evictions.create_pod("web", phase=phase)
    evictions.create_budget(0)

    assert evictions.evict("web").status == 201


def test_a_terminating_pod_is_evicted_without_a_disruption_of_the_budget(
    evictions: EvictionRequests,
) -> None:
    evictions.create_pod("web")
    evictions.create_budget(1)
    evictions.evict("web")

    assert evictions.evict("web").status == 201


UNREADY: list[tuple[dict[str, Any], int]] = [
    ({"policy": "AlwaysAllow"}, 201),
    ({"desiredHealthy": 2, "currentHealthy": 2}, 201),
    ({"desiredHealthy": 2, "currentHealthy": 2, "policy": "IfHealthyBudget"}, 201),
    ({"desiredHealthy": 2, "currentHealthy": 1}, 429),
    ({"desiredHealthy": 0, "currentHealthy": 1}, 429),
]


@pytest.mark.parametrize(("budget", "status"), UNREADY)
def test_the_unhealthy_pod_eviction_policy_decides_about_an_unready_pod(
    budget: dict[str, Any], status: int, evictions: EvictionRequests
) -> None:
    evictions.create_pod("web", ready=False)
    evictions.create_budget(0, **budget)

    response = evictions.evict("web")

    assert response.status == status
    assert "disruptedPods" not in evictions.budget()["status"]


def test_a_pod_under_two_budgets_is_not_evicted(evictions: EvictionRequests) -> None:
    evictions.create_pod("web")
    evictions.create_budget(1)
    evictions.create_budget(1, name="another")

    response = evictions.evict("web")

    assert (response.status, response.json()["message"]) == (
        500,
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not"
        " support.",
    )


def test_a_dry_run_does_not_change_the_budget(evictions: EvictionRequests) -> None:
    evictions.create_pod("web")
    evictions.create_budget(1)

    by_query = evictions.evict("web", query="?dryRun=All")
    by_options = evictions.evict("web", dryRun=["All"])

    assert (by_query.status, by_options.status) == (201, 201)
    assert evictions.budget()["status"]["disruptionsAllowed"] == 1
    assert "deletionTimestamp" not in evictions.pod("web")["metadata"]


@pytest.mark.parametrize(
    ("preconditions", "word"),
    [({"uid": "x"}, "UID"), ({"resourceVersion": "1"}, "ResourceVersion")],
)
def test_an_eviction_with_a_stale_precondition_is_rejected_but_changes_the_budget(
    preconditions: dict[str, str], word: str, evictions: EvictionRequests
) -> None:
    evictions.create_pod("web")
    evictions.create_budget(1)

    response = evictions.evict("web", preconditions=preconditions)

    start = f'Operation cannot be fulfilled on Pod "web": the {word} in the precondition'
    assert response.status == 409
    assert response.json()["message"].startswith(start)
    assert evictions.budget()["status"]["disruptionsAllowed"] == 0


def test_too_many_evictions_that_no_controller_observed_are_rejected(
    evictions: EvictionRequests,
) -> None:
    evictions.create_pod("web")
    disrupted = {f"pod-{number}": "2026-01-01T00:00:00Z" for number in range(2001)}
    evictions.create_budget(1, disruptedPods=disrupted)

    response = evictions.evict("web")

    assert (response.status, response.json()["message"]) == (
        403,
        'poddisruptionbudget.policy "budget" is forbidden: DisruptedPods map too big - too many'
        " evictions not confirmed by PDB controller",
    )


def test_an_eviction_has_the_name_of_its_pod(evictions: EvictionRequests) -> None:
    evictions.create_pod("web")
    path = f"{evictions.pods}/web/eviction"

    unnamed = evictions.admin.call("POST", path, {})
    elsewhere = evictions.admin.call("POST", path, {"metadata": {"name": "web", "namespace": "x"}})

    assert (unnamed.status, unnamed.json()["message"]) == (
        400,
        "name in URL does not match name in Eviction object",
    )
    assert elsewhere.json()["message"] == (
        "the namespace of the provided object does not match the namespace sent on the request"
    )
