"""The table row of a Pod."""

from typing import Any

import pytest

from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.tables.table_samples import ABOUT, AGE, printer_of, shown

RUNNING: Object = {"running": {}}
COMPLETED: Object = {"terminated": {"exitCode": 0, "reason": "Completed"}}
LAST: Object = {"terminated": {"finishedAt": "2026-06-15T11:00:00Z"}}


def container(state: Object, *, name: str = "a", restarts: int = 0, **more: Any) -> Object:
    return {"name": name, "state": state, "restartCount": restarts, **more}


def waiting(reason: str) -> Object:
    return {"waiting": {"reason": reason}}


def terminated(code: int, **more: Any) -> Object:
    return {"terminated": {"exitCode": code, **more}}


def pod(
    *containers: Object,
    phase: str = "Running",
    init_containers: tuple[Object, ...] = (),
    conditions: tuple[str, ...] = (),
    sidecars: tuple[str, ...] = (),
    deleting: bool = False,
    **status: Any,
) -> Object:
    init_specs = [
        {"name": each["name"], **({"restartPolicy": "Always"} if each["name"] in sidecars else {})}
        for each in init_containers
    ]
    return {
        "metadata": {
            **ABOUT,
            **({"deletionTimestamp": "2026-06-15T12:00:00Z"} if deleting else {}),
        },
        "spec": {"containers": [{"name": "a"}, {"name": "b"}], "initContainers": init_specs},
        "status": {
            "phase": phase,
            "containerStatuses": list(containers),
            "initContainerStatuses": list(init_containers),
            "conditions": [{"type": each, "status": "True"} for each in conditions],
            **status,
        },
    }


def gated() -> Object:
    scheduled = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
    return pod(phase="Pending", conditions=()) | {
        "status": {"phase": "Pending", "conditions": [scheduled]}
    }


STATUSES = {
    "Pending": pod(phase="Pending"),
    "Evicted": pod(phase="Failed", reason="Evicted"),
    "SchedulingGated": gated(),
    "Init:0/1": pod(init_containers=(container(waiting("PodInitializing")),)),
    "Init:1/2": pod(init_containers=(container(terminated(0)), container({}, name="b"))),
    "Init:ErrImagePull": pod(init_containers=(container(waiting("ErrImagePull")),)),
    "Init:Error": pod(init_containers=(container(terminated(1, reason="Error")),)),
    "Init:Signal:9": pod(init_containers=(container(terminated(1, signal=9)),)),
    "Init:ExitCode:1": pod(init_containers=(container(terminated(1)),)),
    "CrashLoopBackOff": pod(container(waiting("CrashLoopBackOff")), container(RUNNING, name="b")),
    "Error": pod(container(COMPLETED), container(terminated(1, reason="Error"), name="b")),
    "Signal:9": pod(container(terminated(137, signal=9))),
    "ExitCode:3": pod(container(terminated(3))),
    "Completed": pod(container(COMPLETED), phase="Succeeded"),
    "NotReady": pod(container(COMPLETED), container(RUNNING, name="b", ready=True)),
    "Running": pod(
        container(COMPLETED), container(RUNNING, name="b", ready=True), conditions=("Ready",)
    ),
    "Terminating": pod(deleting=True),
    "Succeeded": pod(phase="Succeeded", deleting=True),
    "Unknown": pod(reason="NodeLost", deleting=True),
}


@pytest.mark.parametrize("status", STATUSES)
def test_the_status_of_a_pod_is_derived_from_its_containers(status: str) -> None:
    assert shown("pods", STATUSES[status])["Status"] == status


def test_sidecar_containers_count_as_ready_and_restarted() -> None:
    beside = container(RUNNING, name="beside", ready=True, started=True, restarts=2, lastState=LAST)
    once = container(terminated(0), name="once", restarts=9)
    running = container(RUNNING, ready=True, restarts=1)

    row = shown("pods", pod(running, init_containers=(beside, once), sidecars=("beside",)))

    assert (row["Ready"], row["Restarts"]) == ("2/3", "3 (60m ago)")


def test_restarts_of_init_containers_count_until_the_pod_is_initialized() -> None:
    failing = container(terminated(1), restarts=4)

    beginning = shown("pods", pod(container(RUNNING, restarts=1), init_containers=(failing,)))
    init_specs = shown(
        "pods",
        pod(
            container(RUNNING, restarts=1), init_containers=(failing,), conditions=("Initialized",)
        ),
    )

    assert (beginning["Restarts"], init_specs["Restarts"]) == ("4", "1")


def test_the_wide_columns_contain_address_node_and_readiness_gates() -> None:
    at = pod(podIPs=[{"ip": "10.1.2.3"}, {"ip": "fd00::1"}], nominatedNodeName="other")
    at["spec"] |= {
        "nodeName": "node",
        "readinessGates": [{"conditionType": "x"}, {"conditionType": "y"}],
    }
    at["status"]["conditions"] = [{"type": "x", "status": "True"}, {"type": "y", "status": "False"}]

    assert list(shown("pods", at).items())[4:] == [
        ("Age", AGE),
        ("IP", "10.1.2.3"),
        ("Node", "node"),
        ("Nominated Node", "other"),
        ("Readiness Gates", "1/2"),
    ]


def test_the_row_of_an_empty_pod_has_placeholders() -> None:
    cells = shown("pods", {"metadata": {}}).values()

    assert list(cells) == ["", "0/0", "", "0", "<unknown>", *["<none>"] * 4]


@pytest.mark.parametrize(("phase", "reasons"), [("Failed", ["Failed"]), ("Running", [])])
def test_the_row_of_a_finished_pod_has_the_completed_condition(
    phase: str, reasons: list[str]
) -> None:
    conditions = printer_of("pods").conditions
    assert conditions is not None

    found = conditions(pod(phase=phase))

    assert [each["reason"] for each in found] == reasons
    assert all((each["type"], each["status"]) == ("Completed", "True") for each in found)
