"""A trace has what led to a failure, and nothing else."""

from steersman_cluster.simulation.history import History, RecordedRequest
from steersman_cluster.simulation.scenarios.trace import (
    TraceEntry,
    fault_trace,
    last_writes,
    short_path,
)

WEB = "/apis/apps/v1/namespaces/default/deployments/web"


def asked(
    at: float, actor: str, method: str = "PATCH", target: str = WEB, **rest: object
) -> RecordedRequest:
    given: dict[str, object] = {"status": 200, "is_change": True, **rest}
    return RecordedRequest(at, actor, method, target, 0, given["status"], given["is_change"])  # type: ignore[arg-type]


def test_a_path_is_shortened() -> None:
    said = {
        WEB: "deployments/web",
        f"{WEB}/status?fieldManager=x": "deployments/web/status",
        "/api/v1/namespaces/other/pods": "pods in other",
        "/api/v1/nodes/one": "nodes/one",
        "/api/v1/namespaces/default": "namespaces/default",
        "Buckets.put": "Buckets.put",
    }

    assert {path: short_path(path, home="default") for path in said} == said


def test_a_trace_has_writes_and_notes_in_the_order_in_which_they_happened() -> None:
    history = [
        asked(0.0, "user", target="/apis/x/v1/sites/before"),
        asked(0.5, "user"),
        asked(0.5, "operator", "GET"),
        asked(0.6, "workloads"),
        asked(1.0, "operator", status=409, is_change=False),
        asked(2.0, "operator", is_change=False),
        asked(3.0, "operator", status=0, is_change=False),
    ]
    noted = [TraceEntry(5, 1.0, "operator", "is killed", is_fault=True)]

    steps = fault_trace(history, noted, since=1, home="default", without=frozenset(["workloads"]))

    assert steps == (
        "   0.500 s  user      PATCH deployments/web",
        "   1.000 s  operator  PATCH deployments/web  409",
        "   1.000 s  operator  is killed",
        "   2.000 s  operator  PATCH deployments/web  changes nothing",
        "   3.000 s  operator  PATCH deployments/web  no response",
    )


def test_a_long_trace_has_the_lines_around_the_fault() -> None:
    history = [asked(float(number), "operator") for number in range(100)]
    noted = [TraceEntry(50, 49.0, "operator", "is killed", is_fault=True)]

    steps = fault_trace(history, noted, since=0, home="default", without=frozenset())

    assert steps[0].strip() == steps[-1].strip() == "…"
    assert len(steps) == 22
    assert "is killed" in steps[9]


def test_the_last_writes_leave_out_those_of_the_cluster_in_other_namespaces() -> None:
    history = History()
    history.requests += [asked(float(number), "user") for number in range(40)]
    history.requests.append(asked(41.0, "workloads", target="/api/v1/namespaces/kube-system/pods"))
    history.requests.append(asked(42.0, "workloads"))

    steps = last_writes(history, home="default")

    assert steps[0].strip() == "…"
    assert steps[1].startswith("  11.000 s  user ")
    assert steps[-1] == "  42.000 s  workloads  PATCH deployments/web"
