"""Rich objects with one change give the same object or error on both servers.

The random seed is fixed. The warnings are compared, too, except with errors: the warnings that
kube-apiserver sends with an error vary.
"""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

import pytest
import yaml

from steersman.clock import SystemClock
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas
from tests.real.differential.embedded import embedded
from tests.real.differential.scenario import Server
from tests.real.differential.servers import real
from tests.recorded.builtin_rules.cases import Object
from tests.recorded.builtin_rules.mutations import mutations

pytestmark = pytest.mark.timeout(120)
NAMESPACE: Final = "mutations"
UID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
STARTED: Final = SystemClock().now().strftime("%Y-%m-%dT%H:%M:%SZ")
OF_THE_REQUEST: Final = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
# The number of mutations per object: of a create, of an update, and of a status update.
SAMPLE_SIZES: Final = {"create": 12, "update": 12, "status": 6}
ALLOCATED: Final = ("clusterIP", "healthCheckNodePort")
# Known differences: the embedded server treats an empty list or map as absent.
KNOWN_DIFFERENCES: Final = (
    "'[]' at spec.behavior.",
    "'{}' at spec.resources.requests",
    "without spec.resources.requests.storage",
)
RESOURCES: Final = {
    (each.gvk.api_version, each.gvk.kind): each for each in BuiltinSchemas.read().resources
}

Result: TypeAlias = tuple[int, Any, list[str]]


class MutationRequest(NamedTuple):
    """A request with a mutated object, and its description."""

    description: str
    method: str
    path: str
    body: Object


def rich_objects() -> Iterator[Object]:
    for file in sorted(
        (Path(__file__).parents[1] / "recorded" / "builtin_rules" / "rich").glob("*.yaml")
    ):
        yield from yaml.safe_load_all(file.read_text().replace("NAMESPACE", NAMESPACE))


@pytest.fixture(scope="module")
def real_cluster() -> Iterator["Cluster"]:
    with real() as server:
        yield Cluster(server)


@pytest.fixture(scope="module")
def embedded_cluster() -> Iterator["Cluster"]:
    with embedded() as server:
        yield Cluster(server)


def identity(rich: Object) -> str:
    return f"{rich['apiVersion']} {rich['kind']} {rich['metadata']['name']}"


@pytest.mark.parametrize("rich", [*rich_objects()], ids=identity)
def test_a_changed_object_is_accepted_or_rejected_as_by_the_real_server(
    rich: Object, real_cluster: "Cluster", embedded_cluster: "Cluster"
) -> None:
    found = differences(rich, real_cluster, embedded_cluster)
    if found:
        # kube-apiserver reads from a cache that may be stale: only a repeated difference counts.
        found = differences(rich, real_cluster, embedded_cluster)

    assert found == {}


def differences(
    rich: Object, real_cluster: "Cluster", embedded_cluster: "Cluster"
) -> dict[str, tuple[Result, Result]]:
    """The requests with different results: the embedded server's and the real server's."""
    embedded_result, real_result = embedded_cluster.create(rich), real_cluster.create(rich)
    requests = [*mutation_requests(rich, embedded_result[1])]
    expected = {each.description: real_cluster.send(each, real_result[1]) for each in requests}
    found = {each.description: embedded_cluster.send(each, embedded_result[1]) for each in requests}
    embedded_cluster.delete(rich)
    real_cluster.delete(rich)
    pairs = {
        "created": (embedded_result, real_result),
        **{name: (found[name], expected[name]) for name in expected},
    }
    results = {name: (comparable(one), comparable(other)) for name, (one, other) in pairs.items()}
    return {name: (one, other) for name, (one, other) in results.items() if one != other}


def mutation_requests(rich: Object, stored: Object) -> Iterator[MutationRequest]:
    """Requests that create a mutated copy of an object, or mutate the stored object."""
    collection, name = path_of(rich), rich["metadata"]["name"]
    new = {key: value for key, value in rich.items() if key != "status" or rich["kind"] == "Node"}
    new["metadata"] = {**rich["metadata"], "name": other_name(rich)}
    if rich["kind"] == "Service":
        # Only the embedded server rejects a dry run with an allocated address.
        new["spec"] = {key: value for key, value in rich["spec"].items() if key not in ALLOCATED}
    rest = {key: value for key, value in stored.items() if key != "status"}
    for operation, method, path, changes in (
        ("create", "POST", collection, mutations(new)),
        ("update", "PUT", f"{collection}/{name}", mutations(rest)),
        ("status", "PUT", f"{collection}/{name}/status", mutations(stored, part="status")),
    ):
        if operation == "status" and "status" not in rich:
            continue
        candidates = [each for each in changes if not each[0].startswith(KNOWN_DIFFERENCES)]
        sample = Random(7).sample(candidates, min(SAMPLE_SIZES[operation], len(candidates)))
        for change, body in sample:
            yield MutationRequest(f"{operation} {change}", method, f"{path}?dryRun=All", body)


def path_of(obj: Object) -> str:
    resource = RESOURCES[obj["apiVersion"], obj["kind"]]
    root = "/api/v1" if obj["apiVersion"] == "v1" else f"/apis/{obj['apiVersion']}"
    place = f"/namespaces/{NAMESPACE}" if resource.namespaced else ""
    return f"{root}{place}/{resource.plural}"


def other_name(rich: Object) -> str:
    return "10.9.8.8" if rich["kind"] == "IPAddress" else f"{rich['metadata']['name']}-2"


class Cluster:
    """Writes objects to one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._call("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})

    def create(self, rich: Object) -> Result:
        """Create the object and write its status."""
        path = path_of(rich)
        response = self._call("POST", path, rich)
        assert response[0] == 201, response
        if "status" in rich:
            body = {**response[1], "status": rich["status"]}
            response = self._call("PUT", f"{path}/{rich['metadata']['name']}/status", body)
        return response

    def send(self, request: MutationRequest, stored: Object) -> Result:
        """Send a request with the identity of the object that this server has stored."""
        body = deepcopy(request.body)
        body["metadata"].pop("managedFields", None)
        if request.method == "PUT":
            # The labels of a Job contain the uid, too.
            uid = body["metadata"]["uid"]
            body = json.loads(json.dumps(body).replace(uid, stored["metadata"]["uid"]))
            body["metadata"] |= {key: stored["metadata"][key] for key in OF_THE_REQUEST[:3]}
        return self._call(request.method, request.path, body)

    def delete(self, rich: Object) -> None:
        """Delete the object and remove its finalizers."""
        path = f"{path_of(rich)}/{rich['metadata']['name']}"
        self._call("DELETE", path)
        self._call("PATCH", path, {"metadata": {"finalizers": None}})

    def _call(self, method: str, path: str, body: Object | None = None) -> Result:
        is_patch = method == "PATCH"
        headers = {
            "authorization": f"Bearer {self._server.token}",
            "content-type": "application/merge-patch+json" if is_patch else "application/json",
            "accept": "application/json",
        }
        content = None if body is None else json.dumps(body).encode()
        response = self._server.call(method, path, content, headers)
        warnings = [value for name, value in response.headers if name.lower() == "warning"]
        return response.status, response.json(), warnings


def comparable(response: Result) -> Result:
    """The result without values that differ between requests."""
    status, body, warnings = response
    if body["kind"] == "Status":
        # The embedded server reports empty values as null.
        text = json.dumps(body).replace("[]", "null").replace("{}", "null")
        return status, json.loads(without_identities(text)), []
    body = deepcopy(body)
    for name in OF_THE_REQUEST:
        body["metadata"].pop(name, None)
    if body["kind"] == "Service":
        hide_allocated(body["spec"])
    return status, json.loads(without_identities(json.dumps(body))), warnings


def without_identities(text: str) -> str:
    """The text without uids and current timestamps, which differ between requests."""
    text = UID.sub("uid", text)
    return TIMESTAMP.sub(lambda found: "now" if found[0] >= STARTED else found[0], text)


def hide_allocated(spec: Object) -> None:
    """Remove the addresses and ports that were allocated to a Service."""
    for name in ("clusterIP", "clusterIPs", "healthCheckNodePort"):
        spec.pop(name, None)
    for port in spec.get("ports", ()):
        if port.get("nodePort", 0) >= 30000:
            port["nodePort"] = "allocated"
