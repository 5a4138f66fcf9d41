"""Admission plugins give the same objects and errors as on the real API server."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import TypeAlias

import pytest

from steersman_cluster.testing.calls import HttpResponse
from tests.recorded.builtin_rules.cases import Object, merged
from tests.recorded.builtin_rules.plugin_scenarios import Scenario, scenarios
from tests.recorded.embedded_caller import EmbeddedCaller, embedded_caller
from tests.recorded.module_recording import ModuleRecording, RecordedCaller

RANDOM_METADATA = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
Result: TypeAlias = tuple[int, Object, list[str]]
# The number of requests until the plugins of the real server have received a new object; each
# request takes at least a millisecond.
MAX_REQUESTS = 2000


@pytest.fixture(scope="module")
def api(real: ModuleRecording) -> Iterator[RecordedCaller]:
    with real.caller() as api:
        yield api


@pytest.fixture(scope="module")
def embedded_api() -> Iterator[EmbeddedCaller]:
    with embedded_caller() as api:
        yield api


@pytest.mark.parametrize(("number", "scenario"), [*enumerate(scenarios())], ids=str)
def test_an_admission_plugin_gives_the_result_of_the_real_server(
    number: int, scenario: Scenario, api: RecordedCaller, embedded_api: EmbeddedCaller
) -> None:
    namespace = f"plugins-{number}"

    with stored(embedded_api, scenario, namespace), stored(api, scenario, namespace):
        actual = [
            result(embedded_api.call(*each)) for each in requests(embedded_api, scenario, namespace)
        ]
        expected = [
            result(received(api, each, wanted))
            for each, wanted in zip(requests(api, scenario, namespace), actual, strict=True)
        ]

    assert actual == expected


@contextmanager
def stored(
    api: RecordedCaller | EmbeddedCaller, scenario: Scenario, namespace: str
) -> Iterator[None]:
    """Store the given objects during the block."""
    metadata = {"name": namespace, "labels": scenario.labels}
    created(api.call("POST", "/api/v1/namespaces", {"metadata": metadata}))
    for path, body in scenario.given:
        created(api.call("POST", path.format(namespace=namespace), body))
    for path, status in scenario.statuses:
        path = path.format(namespace=namespace)
        found = api.call("GET", path.removesuffix("/status")).json()
        created(api.call("PUT", path, {**found, "status": status}))
    yield
    for path, body in scenario.given:
        if "{namespace}" not in path:
            api.send("DELETE", f"{path}/{body['metadata']['name']}")
    api.send("DELETE", f"/api/v1/namespaces/{namespace}")


def created(response: HttpResponse) -> None:
    assert response.status < 300, response.body


def requests(
    api: RecordedCaller | EmbeddedCaller, scenario: Scenario, namespace: str
) -> Iterator[tuple[str, str, Object]]:
    """The requests of a scenario: dry runs of a create, or of an update of a stored object."""
    for path, body in scenario.tried:
        yield "POST", f"{path.format(namespace=namespace)}?dryRun=All", body
    for path, change in scenario.changes:
        path = path.format(namespace=namespace)
        yield "PUT", f"{path}?dryRun=All", merged(api.call("GET", path).json(), change)


def received(api: RecordedCaller, request: tuple[str, str, Object], wanted: Result) -> HttpResponse:
    """The first response that equals the wanted one, or the last, after many requests."""
    attempts = count(1)
    return api.call_until(
        lambda each: result(each) == wanted or next(attempts) == MAX_REQUESTS, *request
    )


def result(response: HttpResponse) -> Result:
    """The response without random values."""
    return without_random_values((response.status, response.json(), list(response.warnings)))


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
