"""Admission plugins give the same objects and errors as on the real API server."""

import json
from collections.abc import Iterator
from typing import TypeAlias

import pytest

from steersman.clock import SystemClock
from tests.real.builtin_rules.cases import Object, merged
from tests.real.builtin_rules.plugin_scenarios import Scenario, scenarios
from tests.real.differential.embedded import embedded
from tests.real.differential.scenario import Server
from tests.real.differential.servers import real

pytestmark = pytest.mark.timeout(60)
OF_THE_REQUEST = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
Answer: TypeAlias = tuple[int, Object, list[str]]
# The longest time until the real server's plugins receive a new object.
RECEIVE_SECONDS = 30.0


@pytest.fixture(scope="module")
def theirs() -> Iterator["ScenarioRunner"]:
    with real() as server:
        yield ScenarioRunner(server)


@pytest.fixture(scope="module")
def ours() -> Iterator["ScenarioRunner"]:
    with embedded() as server:
        yield ScenarioRunner(server)


@pytest.mark.parametrize(("number", "scenario"), [*enumerate(scenarios())], ids=str)
def test_an_admission_plugin_does_what_the_real_servers_does(
    number: int, scenario: Scenario, theirs: "ScenarioRunner", ours: "ScenarioRunner"
) -> None:
    namespace, clock = f"plugins-{number}", SystemClock()
    ours.begin(scenario, namespace)
    theirs.begin(scenario, namespace)
    try:
        expected = ours.responses(scenario, namespace)
        found = theirs.responses(scenario, namespace)
        until_at = clock.monotonic() + RECEIVE_SECONDS
        while found != expected and clock.monotonic() < until_at:
            found = theirs.responses(scenario, namespace)
        assert expected == found
    finally:
        ours.end(scenario, namespace)
        theirs.end(scenario, namespace)


class ScenarioRunner:
    """Tells scenarios to one server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def begin(self, scenario: Scenario, namespace: str) -> None:
        """Create the given objects."""
        metadata = {"name": namespace, "labels": scenario.labels}
        self._must("POST", "/api/v1/namespaces", {"metadata": metadata})
        for path, body in scenario.given:
            self._must("POST", path.format(namespace=namespace), body)
        for path, status in scenario.statuses:
            path = path.format(namespace=namespace)
            _, there, _ = self._ask("GET", path.removesuffix("/status"))
            self._must("PUT", path, {**there, "status": status})

    def responses(self, scenario: Scenario, namespace: str) -> list[Answer]:
        """What is answered to what is tried, without what differs from request to request."""
        found: list[Answer] = []
        for path, body in scenario.tried:
            path = path.format(namespace=namespace)
            found.append(self._ask("POST", f"{path}?dryRun=All", body))
        for path, change in scenario.changes:
            path = path.format(namespace=namespace)
            _, there, _ = self._ask("GET", path)
            found.append(self._ask("PUT", f"{path}?dryRun=All", merged(there, change)))
        return [*map(without_chance, found)]

    def end(self, scenario: Scenario, namespace: str) -> None:
        """Take away what others could see."""
        for path, body in scenario.given:
            if "{namespace}" not in path:
                self._ask("DELETE", f"{path}/{body['metadata']['name']}")
        self._ask("DELETE", f"/api/v1/namespaces/{namespace}")

    def _must(self, method: str, path: str, body: Object) -> None:
        status, response, _ = self._ask(method, path, body)
        assert status < 300, response

    def _ask(self, method: str, path: str, body: Object | None = None) -> Answer:
        headers = {
            "authorization": f"Bearer {self._server.token}",
            "content-type": "application/json",
            "accept": "application/json",
        }
        content = None if body is None else json.dumps(body).encode()
        response = self._server.call(method, path, content, headers)
        warnings = [value for name, value in response.headers if name.lower() == "warning"]
        return response.status, response.json(), warnings


def without_chance(found: Answer) -> Answer:
    status, response, warnings = found
    if response["kind"] == "Status":
        # Of what it refuses, the real server warns by chance.
        return status, response, []
    metadata = {k: v for k, v in response["metadata"].items() if k not in OF_THE_REQUEST}
    spec = {
        k: v for k, v in response.get("spec", {}).items() if k not in ("clusterIP", "clusterIPs")
    }
    for port in spec.get("ports", ()) if response["kind"] == "Service" else ():
        port.pop("nodePort", None)
    if response["kind"] == "Job":
        # Its pods are chosen by its uid.
        spec = {"template": {"spec": spec["template"]["spec"]}}
        metadata.pop("labels", None)
    return status, {**response, "metadata": metadata, "spec": spec}, warnings
