"""Admission plugins give the same objects and errors as on the real API server."""

import json
from collections.abc import Iterator
from typing import TypeAlias

import pytest

from steersman.clock import SystemClock
from tests.real.differential.embedded import embedded
from tests.real.differential.scenario import Server
from tests.real.differential.servers import real
from tests.recorded.builtin_rules.cases import Object, merged
from tests.recorded.builtin_rules.plugin_scenarios import Scenario, scenarios

pytestmark = pytest.mark.timeout(60)
RANDOM_METADATA = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
Result: TypeAlias = tuple[int, Object, list[str]]
# The longest time until the plugins of the real server receive a new object.
RECEIVE_SECONDS = 30.0


@pytest.fixture(scope="module")
def real_runner() -> Iterator["ScenarioRunner"]:
    with real() as server:
        yield ScenarioRunner(server)


@pytest.fixture(scope="module")
def embedded_runner() -> Iterator["ScenarioRunner"]:
    with embedded() as server:
        yield ScenarioRunner(server)


@pytest.mark.parametrize(("number", "scenario"), [*enumerate(scenarios())], ids=str)
def test_an_admission_plugin_gives_the_result_of_the_real_server(
    number: int,
    scenario: Scenario,
    real_runner: "ScenarioRunner",
    embedded_runner: "ScenarioRunner",
) -> None:
    namespace, clock = f"plugins-{number}", SystemClock()
    embedded_runner.begin(scenario, namespace)
    real_runner.begin(scenario, namespace)
    try:
        actual = embedded_runner.responses(scenario, namespace)
        expected = real_runner.responses(scenario, namespace)
        until_at = clock.monotonic() + RECEIVE_SECONDS
        while expected != actual and clock.monotonic() < until_at:
            expected = real_runner.responses(scenario, namespace)
        assert actual == expected
    finally:
        embedded_runner.end(scenario, namespace)
        real_runner.end(scenario, namespace)


class ScenarioRunner:
    """Runs scenarios on one server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def begin(self, scenario: Scenario, namespace: str) -> None:
        """Create the given objects."""
        metadata = {"name": namespace, "labels": scenario.labels}
        self._send_successfully("POST", "/api/v1/namespaces", {"metadata": metadata})
        for path, body in scenario.given:
            self._send_successfully("POST", path.format(namespace=namespace), body)
        for path, status in scenario.statuses:
            path = path.format(namespace=namespace)
            _, stored, _ = self._send("GET", path.removesuffix("/status"))
            self._send_successfully("PUT", path, {**stored, "status": status})

    def responses(self, scenario: Scenario, namespace: str) -> list[Result]:
        """The responses to the requests of a scenario, without random values."""
        found: list[Result] = []
        for path, body in scenario.tried:
            path = path.format(namespace=namespace)
            found.append(self._send("POST", f"{path}?dryRun=All", body))
        for path, change in scenario.changes:
            path = path.format(namespace=namespace)
            _, stored, _ = self._send("GET", path)
            found.append(self._send("PUT", f"{path}?dryRun=All", merged(stored, change)))
        return [*map(without_random_values, found)]

    def end(self, scenario: Scenario, namespace: str) -> None:
        """Delete the objects of the scenario."""
        for path, body in scenario.given:
            if "{namespace}" not in path:
                self._send("DELETE", f"{path}/{body['metadata']['name']}")
        self._send("DELETE", f"/api/v1/namespaces/{namespace}")

    def _send_successfully(self, method: str, path: str, body: Object) -> None:
        status, response, _ = self._send(method, path, body)
        assert status < 300, response

    def _send(self, method: str, path: str, body: Object | None = None) -> Result:
        headers = {
            "authorization": f"Bearer {self._server.token}",
            "content-type": "application/json",
            "accept": "application/json",
        }
        content = None if body is None else json.dumps(body).encode()
        response = self._server.call(method, path, content, headers)
        warnings = [value for name, value in response.headers if name.lower() == "warning"]
        return response.status, response.json(), warnings


def without_random_values(found: Result) -> Result:
    status, response, warnings = found
    if response["kind"] == "Status":
        # The real server adds warnings to errors at random.
        return status, response, []
    metadata = {k: v for k, v in response["metadata"].items() if k not in RANDOM_METADATA}
    spec = {
        k: v for k, v in response.get("spec", {}).items() if k not in ("clusterIP", "clusterIPs")
    }
    for port in spec.get("ports", ()) if response["kind"] == "Service" else ():
        port.pop("nodePort", None)
    if response["kind"] == "Job":
        # The selector and labels contain the uid.
        spec = {"template": {"spec": spec["template"]["spec"]}}
        metadata.pop("labels", None)
    return status, {**response, "metadata": metadata, "spec": spec}, warnings
