"""The row of a Pod."""

from typing import Any

import pytest

from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.tables.shown_tables import ABOUT, AGE, printer_of, shown

RUNNING: Object = {"running": {}}
COMPLETED: Object = {"terminated": {"exitCode": 0, "reason": "Completed"}}
LAST: Object = {"terminated": {"finishedAt": "2026-06-15T11:00:00Z"}}


def container(state: Object, *, name: str = "a", restarts: int = 0, **more: Any) -> Object:
    return {"name": name, "state": state, "restartCount": restarts, **more}


def waits(reason: str) -> Object:
    return {"waiting": {"reason": reason}}


def ended(code: int, **more: Any) -> Object:
    return {"terminated": {"exitCode": code, **more}}


def pod(
    *containers: Object,
    phase: str = "Running",
    begin: tuple[Object, ...] = (),
    conditions: tuple[str, ...] = (),
    stays: tuple[str, ...] = (),
    ending: bool = False,
    **status: Any,
) -> Object:
    begun = [
        {"name": each["name"], **({"restartPolicy": "Always"} if each["name"] in stays else {})}
        for each in begin
    ]
    return {
        "metadata": {**ABOUT, **({"deletionTimestamp": "2026-06-15T12:00:00Z"} if ending else {})},
        "spec": {"containers": [{"name": "a"}, {"name": "b"}], "initContainers": begun},
        "status": {
            "phase": phase,
            "containerStatuses": list(containers),
            "initContainerStatuses": list(begin),
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
    "Init:0/1": pod(begin=(container(waits("PodInitializing")),)),
    "Init:1/2": pod(begin=(container(ended(0)), container({}, name="b"))),
    "Init:ErrImagePull": pod(begin=(container(waits("ErrImagePull")),)),
    "Init:Error": pod(begin=(container(ended(1, reason="Error")),)),
    "Init:Signal:9": pod(begin=(container(ended(1, signal=9)),)),
    "Init:ExitCode:1": pod(begin=(container(ended(1)),)),
    "CrashLoopBackOff": pod(container(waits("CrashLoopBackOff")), container(RUNNING, name="b")),
    "Error": pod(container(COMPLETED), container(ended(1, reason="Error"), name="b")),
    "Signal:9": pod(container(ended(137, signal=9))),
    "ExitCode:3": pod(container(ended(3))),
    "Completed": pod(container(COMPLETED), phase="Succeeded"),
    "NotReady": pod(container(COMPLETED), container(RUNNING, name="b", ready=True)),
    "Running": pod(
        container(COMPLETED), container(RUNNING, name="b", ready=True), conditions=("Ready",)
    ),
    "Terminating": pod(ending=True),
    "Succeeded": pod(phase="Succeeded", ending=True),
    "Unknown": pod(reason="NodeLost", ending=True),
}


@pytest.mark.parametrize("status", STATUSES)
def test_the_status_of_a_pod_is_what_its_containers_add_up_to(status: str) -> None:
    assert shown("pods", STATUSES[status])["Status"] == status


def test_containers_that_run_beside_the_others_count_with_them() -> None:
    beside = container(RUNNING, name="beside", ready=True, started=True, restarts=2, lastState=LAST)
    once = container(ended(0), name="once", restarts=9)
    running = container(RUNNING, ready=True, restarts=1)

    row = shown("pods", pod(running, begin=(beside, once), stays=("beside",)))

    assert (row["Ready"], row["Restarts"]) == ("2/3", "3 (60m ago)")


def test_restarts_of_a_beginning_count_until_it_is_over() -> None:
    failing = container(ended(1), restarts=4)

    beginning = shown("pods", pod(container(RUNNING, restarts=1), begin=(failing,)))
    begun = shown(
        "pods", pod(container(RUNNING, restarts=1), begin=(failing,), conditions=("Initialized",))
    )

    assert (beginning["Restarts"], begun["Restarts"]) == ("4", "1")


def test_a_pod_says_where_it_is() -> None:
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


def test_nothing_is_said_of_a_pod_of_which_nothing_is_known() -> None:
    cells = shown("pods", {"metadata": {}}).values()

    assert list(cells) == ["", "0/0", "", "0", "<unknown>", *["<none>"] * 4]


@pytest.mark.parametrize(("phase", "reasons"), [("Failed", ["Failed"]), ("Running", [])])
def test_the_row_of_a_pod_that_is_done_says_so(phase: str, reasons: list[str]) -> None:
    conditions = printer_of("pods").conditions
    assert conditions is not None

    found = conditions(pod(phase=phase))

    assert [each["reason"] for each in found] == reasons
    assert all((each["type"], each["status"]) == ("Completed", "True") for each in found)
