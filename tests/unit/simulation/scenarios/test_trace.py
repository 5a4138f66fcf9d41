"""The trace of a failure contains only relevant requests."""

from steersman_cluster.simulation.history import History, RecordedRequest
from steersman_cluster.simulation.scenarios.trace import (
    TraceEntry,
    fault_trace,
    last_writes,
    short_path,
)

WEB = "/apis/apps/v1/namespaces/default/deployments/web"


def recorded(
    at: float, actor: str, method: str = "PATCH", target: str = WEB, **rest: object
) -> RecordedRequest:
    given: dict[str, object] = {"status": 200, "is_change": True, **rest}
    return RecordedRequest(at, actor, method, target, 0, given["status"], given["is_change"])  # type: ignore[arg-type]


def test_a_path_is_shortened() -> None:
    shortened = {
        WEB: "deployments/web",
        f"{WEB}/status?fieldManager=x": "deployments/web/status",
        "/api/v1/namespaces/other/pods": "pods in other",
        "/api/v1/nodes/one": "nodes/one",
        "/api/v1/namespaces/default": "namespaces/default",
        "Buckets.put": "Buckets.put",
    }

    assert {path: short_path(path, home="default") for path in shortened} == shortened


def test_a_trace_contains_writes_and_notes_in_chronological_order() -> None:
    history = [
        recorded(0.0, "user", target="/apis/x/v1/sites/before"),
        recorded(0.5, "user"),
        recorded(0.5, "operator", "GET"),
        recorded(0.6, "workloads"),
        recorded(1.0, "operator", status=409, is_change=False),
        recorded(2.0, "operator", is_change=False),
        recorded(3.0, "operator", status=0, is_change=False),
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


def test_a_long_trace_is_reduced_to_the_lines_around_the_fault() -> None:
    history = [recorded(float(number), "operator") for number in range(100)]
    noted = [TraceEntry(50, 49.0, "operator", "is killed", is_fault=True)]

    steps = fault_trace(history, noted, since=0, home="default", without=frozenset())

    assert steps[0].strip() == steps[-1].strip() == "…"
    assert len(steps) == 22
    assert "is killed" in steps[9]


def test_the_last_writes_omit_those_of_workloads_in_other_namespaces() -> None:
    history = History()
    history.requests += [recorded(float(number), "user") for number in range(40)]
    history.requests.append(
        recorded(41.0, "workloads", target="/api/v1/namespaces/kube-system/pods")
    )
    history.requests.append(recorded(42.0, "workloads"))

    steps = last_writes(history, home="default")

    assert steps[0].strip() == "…"
    assert steps[1].startswith("  11.000 s  user ")
    assert steps[-1] == "  42.000 s  workloads  PATCH deployments/web"
