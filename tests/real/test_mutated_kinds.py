"""Rich objects with one change give the same object or error on both servers.

What is drawn is always the same. Each answer's warnings count as well, unless it is a refusal: of
what it refuses, the real server warns by chance.
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
from tests.real.builtin_rules.cases import Object
from tests.real.builtin_rules.mutations import mutations
from tests.real.differential.embedded import embedded
from tests.real.differential.scenario import Server
from tests.real.differential.servers import real

pytestmark = pytest.mark.timeout(120)
NAMESPACE: Final = "mutations"
UID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
STARTED: Final = SystemClock().now().strftime("%Y-%m-%dT%H:%M:%SZ")
OF_THE_REQUEST: Final = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
# How many changes of each object are tried when it is new, when it is there, and in its status.
DRAWN: Final = {"create": 12, "update": 12, "status": 6}
TAKEN: Final = ("clusterIP", "healthCheckNodePort")
# The embedded server knows no difference between an empty list or map and none.
KNOWN: Final = (
    "'[]' at spec.behavior.",
    "'{}' at spec.resources.requests",
    "without spec.resources.requests.storage",
)
RESOURCES: Final = {
    (each.gvk.api_version, each.gvk.kind): each for each in BuiltinSchemas.read().resources
}

Answer: TypeAlias = tuple[int, Any, list[str]]


class Try(NamedTuple):
    """What is tried, in words, and how."""

    says: str
    method: str
    path: str
    body: Object


def rich_objects() -> Iterator[Object]:
    for file in sorted((Path(__file__).parent / "builtin_rules" / "rich").glob("*.yaml")):
        yield from yaml.safe_load_all(file.read_text().replace("NAMESPACE", NAMESPACE))


@pytest.fixture(scope="module")
def theirs() -> Iterator["Cluster"]:
    with real() as server:
        yield Cluster(server)


@pytest.fixture(scope="module")
def ours() -> Iterator["Cluster"]:
    with embedded() as server:
        yield Cluster(server)


def called(rich: Object) -> str:
    return f"{rich['apiVersion']} {rich['kind']} {rich['metadata']['name']}"


@pytest.mark.parametrize("rich", [*rich_objects()], ids=called)
def test_a_changed_object_is_accepted_or_refused_as_by_the_real_server(
    rich: Object, theirs: "Cluster", ours: "Cluster"
) -> None:
    found = unlike(rich, theirs, ours)
    if found:
        # The real server reads what it changes from a cache that may lag; what lasts is no chance.
        found = unlike(rich, theirs, ours)

    assert found == {}


def unlike(rich: Object, theirs: "Cluster", ours: "Cluster") -> dict[str, tuple[Answer, Answer]]:
    """The requests that the two answer otherwise, with our answer and theirs."""
    here, there = ours.made(rich), theirs.made(rich)
    requests = [*tries(rich, here[1])]
    expected = {each.says: theirs.tried(each, there[1]) for each in requests}
    found = {each.says: ours.tried(each, here[1]) for each in requests}
    ours.unmake(rich)
    theirs.unmake(rich)
    pairs = {"made": (here, there), **{says: (found[says], expected[says]) for says in expected}}
    alike = {says: (comparable(one), comparable(other)) for says, (one, other) in pairs.items()}
    return {says: (one, other) for says, (one, other) in alike.items() if one != other}


def tries(rich: Object, there: Object) -> Iterator[Try]:
    """What is tried of an object, and of what is there of it."""
    collection, name = path_of(rich), rich["metadata"]["name"]
    new = {key: value for key, value in rich.items() if key != "status" or rich["kind"] == "Node"}
    new["metadata"] = {**rich["metadata"], "name": other_name(rich)}
    if rich["kind"] == "Service":
        # To try an address that is taken is fine there, and refused here.
        new["spec"] = {key: value for key, value in rich["spec"].items() if key not in TAKEN}
    rest = {key: value for key, value in there.items() if key != "status"}
    for says, method, path, changes in (
        ("create", "POST", collection, mutations(new)),
        ("update", "PUT", f"{collection}/{name}", mutations(rest)),
        ("status", "PUT", f"{collection}/{name}/status", mutations(there, part="status")),
    ):
        if says == "status" and "status" not in rich:
            continue
        every = [each for each in changes if not each[0].startswith(KNOWN)]
        drawn = Random(7).sample(every, min(DRAWN[says], len(every)))
        for change, body in drawn:
            yield Try(f"{says} {change}", method, f"{path}?dryRun=All", body)


def path_of(obj: Object) -> str:
    resource = RESOURCES[obj["apiVersion"], obj["kind"]]
    root = "/api/v1" if obj["apiVersion"] == "v1" else f"/apis/{obj['apiVersion']}"
    place = f"/namespaces/{NAMESPACE}" if resource.namespaced else ""
    return f"{root}{place}/{resource.plural}"


def other_name(rich: Object) -> str:
    return "10.9.8.8" if rich["kind"] == "IPAddress" else f"{rich['metadata']['name']}-2"


class Cluster:
    """Asks one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._ask("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})

    def made(self, rich: Object) -> Answer:
        """Create it, and give it its status."""
        path = path_of(rich)
        response = self._ask("POST", path, rich)
        assert response[0] == 201, response
        if "status" in rich:
            body = {**response[1], "status": rich["status"]}
            response = self._ask("PUT", f"{path}/{rich['metadata']['name']}/status", body)
        return response

    def tried(self, each: Try, there: Object) -> Answer:
        """Try a request, of what is there as this server has it."""
        body = deepcopy(each.body)
        body["metadata"].pop("managedFields", None)
        if each.method == "PUT":
            # A Job has it in its labels too.
            uid = body["metadata"]["uid"]
            body = json.loads(json.dumps(body).replace(uid, there["metadata"]["uid"]))
            body["metadata"] |= {key: there["metadata"][key] for key in OF_THE_REQUEST[:3]}
        return self._ask(each.method, each.path, body)

    def unmake(self, rich: Object) -> None:
        """Delete it, whatever holds it."""
        path = f"{path_of(rich)}/{rich['metadata']['name']}"
        self._ask("DELETE", path)
        self._ask("PATCH", path, {"metadata": {"finalizers": None}})

    def _ask(self, method: str, path: str, body: Object | None = None) -> Answer:
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


def comparable(response: Answer) -> Answer:
    """Without what differs from request to request."""
    status, body, warnings = response
    if body["kind"] == "Status":
        # What is empty shows as nothing here.
        text = json.dumps(body).replace("[]", "null").replace("{}", "null")
        return status, json.loads(without_chance(text)), []
    body = deepcopy(body)
    for name in OF_THE_REQUEST:
        body["metadata"].pop(name, None)
    if body["kind"] == "Service":
        hide_given(body["spec"])
    return status, json.loads(without_chance(json.dumps(body))), warnings


def without_chance(text: str) -> str:
    """Without identities, and without moments of now: the second may end between two answers."""
    text = UID.sub("uid", text)
    return MOMENT.sub(lambda found: "now" if found[0] >= STARTED else found[0], text)


def hide_given(spec: Object) -> None:
    """Addresses and ports that a Service was given are any."""
    for name in ("clusterIP", "clusterIPs", "healthCheckNodePort"):
        spec.pop(name, None)
    for port in spec.get("ports", ()):
        if port.get("nodePort", 0) >= 30000:
            port["nodePort"] = "given"
