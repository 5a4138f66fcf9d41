"""Rich objects with one change give the same object or error on both servers.

The random seed is fixed. The warnings are compared, too, except with errors: the warnings that
kube-apiserver sends with an error vary. ``generated_changes.jsonl.gz`` has more changes: for each
rule of an update that no other case violates, the smallest one of many random changes that does.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

import pytest
import yaml

from steersman.clock import SystemClock
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas
from tests.recorded.builtin_rules.cases import Object, merged
from tests.recorded.builtin_rules.mutations import mutations
from tests.recorded.canonical import TIME
from tests.recorded.embedded_caller import EmbeddedCaller, embedded_caller
from tests.recorded.module_recording import ModuleRecording, RecordedCaller
from tests.recorded.recordings import read_recording

NAMESPACE: Final = "mutations"
UID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Of the objects that are mutated: the mutations of a text depend on its first character.
SAME_UID: Final = "00000000-0000-4000-8000-000000000001"
TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
STARTED: Final = SystemClock().now().strftime("%Y-%m-%dT%H:%M:%SZ")
OF_THE_REQUEST: Final = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
# The number of mutations per object: of a create, of an update, and of a status update.
SAMPLE_SIZES: Final = {"create": 12, "update": 12, "status": 6}
ALLOCATED: Final = ("clusterIP", "healthCheckNodePort")
# For each rich object and each rule: a subresource, or nothing, and a merge patch.
GENERATED_CHANGES: Final[dict[str, dict[str, tuple[str, Object]]]] = read_recording(
    Path(__file__).parent / "builtin_rules" / "generated_changes.jsonl.gz"
)
# Changes whose errors depend on the status before.
STATUS_CHANGES: Final[dict[str, dict[str, tuple[str, Object]]]] = {
    "v1 Pod running": {"a resize on a node that cannot resize": ("resize", {})},
    "batch/v1 Job indexed": {
        "fewer Pods that succeeded": ("status", {"status": {"succeeded": 0}}),
        "completion without success": (
            "status",
            {
                "status": {
                    "completionTime": "2026-01-02T03:04:06Z",
                    "conditions": [{"type": "Complete", "status": "True"}],
                }
            },
        ),
    },
}
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
    for file in sorted((Path(__file__).parent / "builtin_rules" / "rich").glob("*.yaml")):
        yield from yaml.safe_load_all(file.read_text().replace("NAMESPACE", NAMESPACE))


@pytest.fixture(scope="module")
def real_cluster(real: ModuleRecording) -> Iterator["Cluster"]:
    with real.caller() as api:
        yield Cluster(api)


@pytest.fixture(scope="module")
def embedded_cluster() -> Iterator["Cluster"]:
    with embedded_caller() as api:
        yield Cluster(api)


def identity(rich: Object) -> str:
    return f"{rich['apiVersion']} {rich['kind']} {rich['metadata']['name']}"


@pytest.mark.parametrize("rich", [*rich_objects()], ids=identity)
def test_a_changed_object_is_accepted_or_rejected_as_by_the_real_server(
    rich: Object, real_cluster: "Cluster", embedded_cluster: "Cluster"
) -> None:
    with embedded_cluster.created(rich) as actual, real_cluster.created(rich) as expected:
        stored = with_uid(expected[1], SAME_UID)
        requests = [*mutation_requests(rich, stored), *generated_requests(rich, stored)]
        responses = [real_cluster.send(each, expected[1]) for each in requests]
        found = [embedded_cluster.send(each, actual[1]) for each in requests]

    pairs = {
        "created": (actual, expected),
        **{
            request.description: results
            for request, *results in zip(requests, found, responses, strict=True)
        },
    }
    results = {name: (comparable(one), comparable(other)) for name, (one, other) in pairs.items()}
    assert {name: each for name, each in results.items() if each[0] != each[1]} == {}


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
        candidates = [*changes]
        sample = Random(7).sample(candidates, min(SAMPLE_SIZES[operation], len(candidates)))
        for change, body in sample:
            yield MutationRequest(f"{operation} {change}", method, f"{path}?dryRun=All", body)


def generated_requests(rich: Object, stored: Object) -> Iterator[MutationRequest]:
    """Requests that update the stored object, or its status, with one of its changes."""
    path = f"{path_of(rich)}/{rich['metadata']['name']}"
    name = identity(rich)
    changes = GENERATED_CHANGES.get(name, {}) | STATUS_CHANGES.get(name, {})
    for rule, (subresource, change) in changes.items():
        place = f"{path}/{subresource}" if subresource else path
        yield MutationRequest(rule, "PUT", f"{place}?dryRun=All", merged(stored, change))


def with_uid(obj: Object, uid: str) -> Object:
    """The object with this uid, which the labels of a Job contain, too."""
    found: Object = json.loads(json.dumps(obj).replace(obj["metadata"]["uid"], uid))
    return found


def path_of(obj: Object) -> str:
    resource = RESOURCES[obj["apiVersion"], obj["kind"]]
    root = "/api/v1" if obj["apiVersion"] == "v1" else f"/apis/{obj['apiVersion']}"
    place = f"/namespaces/{NAMESPACE}" if resource.namespaced else ""
    return f"{root}{place}/{resource.plural}"


def other_name(rich: Object) -> str:
    return "10.9.8.8" if rich["kind"] == "IPAddress" else f"{rich['metadata']['name']}-2"


class Cluster:
    """Writes objects to one server."""

    def __init__(self, api: RecordedCaller | EmbeddedCaller) -> None:
        self._api = api
        self._api.send("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})

    @contextmanager
    def created(self, rich: Object) -> Iterator[Result]:
        """Create the object and write its status; after the block, delete the object."""
        try:
            created = self._create(rich)
            version = created[1]["metadata"]["resourceVersion"]
            path = f"{path_of(rich)}/{rich['metadata']['name']}"
            # Updates start from kube-apiserver's watch cache. This waits until it has the object.
            self._api.send("GET", f"{path}?resourceVersion={version}")
            yield created
        finally:
            self._delete(rich)

    def _create(self, rich: Object) -> Result:
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
            body = with_uid(body, stored["metadata"]["uid"])
            body["metadata"] |= {key: stored["metadata"][key] for key in OF_THE_REQUEST[:3]}
        return self._call(request.method, request.path, body)

    def _delete(self, rich: Object) -> None:
        """Delete the object and remove its finalizers."""
        path = f"{path_of(rich)}/{rich['metadata']['name']}"
        self._api.send("DELETE", path)
        unblocked = {"metadata": {"finalizers": None}}
        self._api.send("PATCH", path, unblocked, sends="application/merge-patch+json")

    def _call(self, method: str, path: str, body: Object | None = None) -> Result:
        response = self._api.call(method, path, body)
        return response.status, response.json(), list(response.warnings)


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
    return TIMESTAMP.sub(
        lambda found: "now" if found[0] >= STARTED or found[0].startswith(TIME) else found[0], text
    )


def hide_allocated(spec: Object) -> None:
    """Remove the addresses and ports that were allocated to a Service."""
    for name in ("clusterIP", "clusterIPs", "healthCheckNodePort"):
        spec.pop(name, None)
    for port in spec.get("ports", ()):
        if port.get("nodePort", 0) >= 30000:
            port["nodePort"] = "allocated"
