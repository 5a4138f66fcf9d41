"""A stand-in for a scheduler and a kubelet: Pods are bound to a Node, run, and end."""

import threading
from http.client import HTTPException
from types import TracebackType
from typing import Any, Self

from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.calls import HttpCaller

# The poll interval; the life of a Pod takes a few polls.
POLL_SECONDS = 0.1

NODE = "stand-in"


class StandInKubelet:
    """Runs the Pods of a namespace while it is switched on."""

    def __init__(self, cluster: ControlPlane, *, namespace: str) -> None:
        self._cluster = cluster
        self._pods = f"/api/v1/namespaces/{namespace}/pods"
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._on = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def switch(self, *, on: bool) -> None:
        """Start or stop running Pods; when off, no Pod changes."""
        with self._lock:
            self._on = on
        if on and self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def _run(self) -> None:
        with self._cluster.caller() as server:
            while not self._stopped.wait(POLL_SECONDS):
                with self._lock:
                    if self._on:
                        self._poll(server)

    def _poll(self, server: HttpCaller) -> None:
        try:
            found = server.call("GET", self._pods)
            for pod in found.json().get("items", ()):
                self._advance(server, pod)
        except (OSError, HTTPException):
            # The server may be stopping; the next poll reconnects.
            server.__exit__(None, None, None)

    def _advance(self, server: HttpCaller, pod: dict[str, Any]) -> None:
        path = f"{self._pods}/{pod['metadata']['name']}"
        if "deletionTimestamp" in pod["metadata"]:
            server.call("DELETE", path, {"gracePeriodSeconds": 0})
        elif not pod["spec"].get("nodeName"):
            target = {"apiVersion": "v1", "kind": "Node", "name": NODE}
            binding = {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": pod["metadata"]["name"]},
                "target": target,
            }
            server.call("POST", f"{path}/binding", binding)
        elif pod["status"].get("phase") == "Pending":
            patch = {"status": _status(pod)}
            server.call("PATCH", f"{path}/status", patch, sends="application/merge-patch+json")


def _status(pod: dict[str, Any]) -> dict[str, Any]:
    """The status of a finished Pod unless it always restarts, else of a ready one."""
    ends = pod["spec"]["restartPolicy"] != "Always"
    now = pod["metadata"]["creationTimestamp"]
    state: dict[str, Any] = (
        {
            "terminated": {
                "exitCode": 0,
                "reason": "Completed",
                "startedAt": now,
                "finishedAt": now,
            }
        }
        if ends
        else {"running": {"startedAt": now}}
    )
    kinds = ("Initialized", "PodScheduled") if ends else ("Ready", "ContainersReady")
    # A condition that was already true keeps its time: another time would be a change of a field,
    # or not, depending on the second in which the Pod was bound.
    since = {
        each["type"]: each["lastTransitionTime"]
        for each in pod["status"].get("conditions", ())
        if each["status"] == "True"
    }
    return {
        "phase": "Succeeded" if ends else "Running",
        "podIP": "10.9.8.7",
        "podIPs": [{"ip": "10.9.8.7"}],
        "startTime": now,
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": since.get(kind, now)}
            for kind in kinds
        ],
        "containerStatuses": [
            {
                "name": each["name"],
                "image": each["image"],
                "imageID": "",
                "ready": not ends,
                "restartCount": 0,
                "started": not ends,
                "state": state,
            }
            for each in pod["spec"]["containers"]
        ],
    }
