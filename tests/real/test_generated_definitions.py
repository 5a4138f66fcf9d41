"""Generated definitions have the same effect on the real and the embedded server."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from steersman.clock import SystemClock
from steersman.kinds import Codec, Resource
from steersman.manifests import Document, as_document, crd_of
from steersman_cluster.testing import RealControlPlane, running_embedded_control_plane
from steersman_cluster.testing.calls import HttpCaller, HttpResponse
from tests.examples import example_kinds
from tests.real.random_objects import random_values
from tests.unit.manifests.builtin_parts import BUILTIN_MODULES, kind_with_parts_of
from tests.unit.manifests.everything import Everything, Spec

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
EVERYTHINGS: Final = "/apis/every.example.com/v1/namespaces/default/everythings"
STRICT: Final = "fieldValidation=Strict"
DRY: Final = "dryRun=All"

# The number of requests before giving up; each takes at least a millisecond.
MAX_REQUESTS: Final = 5000


class ServerPair(NamedTuple):
    """Callers of the real and the embedded server."""

    real: HttpCaller
    embedded: HttpCaller


@pytest.fixture(scope="module")
def servers(control_plane: RealControlPlane) -> Iterator[ServerPair]:
    """Both servers, with the definition of the kind that uses every feature."""
    with running_embedded_control_plane(clock=SystemClock()) as embedded:
        with control_plane.caller() as real, embedded.caller() as simulated:
            for server in (real, simulated):
                install(server, Everything)
            yield ServerPair(real, simulated)


def install(server: HttpCaller, kind: type[Resource]) -> None:
    """Create the kind's definition, and wait until its objects are served."""
    where = kind.resource_type
    response = server.call("POST", f"{DEFINITIONS}?{STRICT}", as_document(crd_of(kind)))
    assert response.status in (201, 409), response.body
    path = f"/apis/{where.gvk.api_version}/{where.plural}"
    for _ in range(MAX_REQUESTS):
        if server.call("GET", path).status == 200:
            return
    pytest.fail(f"{where} was never served")


@pytest.mark.parametrize("kind", example_kinds(), ids=lambda kind: kind.__qualname__)
def test_the_definition_of_an_example_is_accepted_with_strict_validation(
    kind: type[Resource], servers: ServerPair
) -> None:
    crd = as_document(crd_of(kind))
    # Applied, because another test may have installed it.
    path = f"{DEFINITIONS}/{crd['metadata']['name']}?{STRICT}&{DRY}&fieldManager=tests&force=true"

    response = servers.real.call("PATCH", path, crd, sends="application/apply-patch+yaml")

    assert (response.status in (200, 201), response.warnings) == (True, ())


@pytest.mark.parametrize("module", BUILTIN_MODULES)
def test_every_built_in_part_can_be_embedded_in_a_custom_resource(
    module: str, servers: ServerPair
) -> None:
    crd = as_document(crd_of(kind_with_parts_of(module)))

    response = servers.real.call("POST", f"{DEFINITIONS}?{STRICT}&{DRY}", crd)

    assert (response.status, response.warnings) == (201, ())


def normalized(crd: Document) -> Any:
    """A definition without the fields that the server adds to all."""
    spec = {key: value for key, value in crd["spec"].items() if key != "conversion"}
    return {"name": crd["metadata"]["name"], "spec": spec}


def test_the_server_stores_a_kind_with_every_feature_unchanged(servers: ServerPair) -> None:
    created = as_document(crd_of(Everything))

    stored = [server.call("GET", f"{DEFINITIONS}/{crd_of(Everything).name}") for server in servers]

    assert [normalized(each.json()) for each in stored] == [normalized(created)] * 2


def everything(spec: Any, name: str = "drawn", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "every.example.com/v1",
        "kind": "Everything",
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


def result(response: HttpResponse) -> dict[str, Any]:
    """The stored object, or the error with its causes in sorted order."""
    body = response.json()
    if response.status in (200, 201):
        return {"status": response.status, "obj": {**body, "metadata": None}}
    causes = (body.get("details") or {}).get("causes") or ()
    return {
        "status": response.status,
        "reason": body["reason"],
        "causes": sorted(json.dumps(each, sort_keys=True) for each in causes),
    }


def parts(field: str) -> st.SearchStrategy[Any]:
    """Values for a field of the kind."""
    version = as_document(crd_of(Everything))["spec"]["versions"][0]
    return random_values(version["schema"]["openAPIV3Schema"]["properties"][field])


def good_spec(**changes: Any) -> Any:
    return json.loads(Codec().encode(Spec(image="nginx", must_say=None))) | changes


# The requests are dry runs, which leave the servers unchanged.
EXAMPLES: Final = settings(
    max_examples=2 * settings().max_examples,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def assert_enough(seen: Counter[int], *statuses: int) -> None:
    """Fail unless each of these statuses was frequent."""
    assert min(seen[each] for each in statuses) > EXAMPLES.max_examples / 10, seen


def test_both_servers_accept_and_reject_the_same_objects(servers: ServerPair) -> None:
    seen: Counter[int] = Counter()

    @EXAMPLES
    @given(parts("spec"))
    # kube-apiserver accepts a list as a string with a format, unless a rule reads it.
    @example(good_spec(day=[]))
    @example(good_spec(since=["2026-01-02"]))
    # A null counts as absent where the schema describes the field.
    @example(good_spec(config={"apiVersion": "v1", "kind": None}))
    @example(good_spec(config={"apiVersion": "v1", "kind": "ConfigMap", "metadata": None}))
    @example(good_spec(someObject={"apiVersion": "v1", "kind": None}))
    @example(good_spec(someObject={"apiVersion": "v1", "kind": "ConfigMap", "metadata": None}))
    def same(spec: Any) -> None:
        real, embedded = (
            result(server.call("POST", f"{EVERYTHINGS}?{DRY}", everything(spec)))
            for server in servers
        )
        seen[real["status"]] += 1
        assert embedded == real

    same()

    assert_enough(seen, 201, 422)


class StoredObject(NamedTuple):
    """An object on a server, to be updated."""

    server: HttpCaller
    metadata: Mapping[str, Any]

    def put(self, subresource: str = "", **parts: Any) -> dict[str, Any]:
        """The result of a dry-run update."""
        path = f"{EVERYTHINGS}/{self.metadata['name']}{subresource}?{DRY}"
        return result(
            self.server.call("PUT", path, {**everything(None), **parts} | self._identity())
        )

    def _identity(self) -> dict[str, Any]:
        return {"metadata": {key: self.metadata[key] for key in ("name", "resourceVersion")}}


@pytest.fixture
def stored(servers: ServerPair) -> Iterator[tuple[StoredObject, StoredObject]]:
    """The same object on both servers."""
    responses = [
        server.call("POST", EVERYTHINGS, everything(good_spec(size=3), "stored"))
        for server in servers
    ]
    assert [each.status for each in responses] == [201, 201]
    real, embedded = (
        StoredObject(server, each.json()["metadata"])
        for server, each in zip(servers, responses, strict=True)
    )
    yield real, embedded
    for server in servers:
        server.call("DELETE", f"{EVERYTHINGS}/stored")


def test_both_servers_accept_and_reject_the_same_updates(
    stored: tuple[StoredObject, StoredObject],
) -> None:
    seen: Counter[int] = Counter()

    @EXAMPLES
    @given(parts("spec"))
    def same(change: Any) -> None:
        spec = good_spec() | change if isinstance(change, dict) else change
        real, embedded = (each.put(spec=spec) for each in stored)
        seen[real["status"]] += 1
        assert embedded == real

    same()

    assert_enough(seen, 200, 422)


def test_both_servers_accept_and_reject_the_same_status_updates(
    stored: tuple[StoredObject, StoredObject],
) -> None:
    seen: Counter[int] = Counter()

    @EXAMPLES
    @given(parts("status"))
    def same(status: Any) -> None:
        real, embedded = (each.put("/status", spec=good_spec(), status=status) for each in stored)
        seen[real["status"]] += 1
        assert embedded == real

    same()

    assert_enough(seen, 200, 422)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (good_spec(window={"low": 3, "high": 2}), "spec.window"),
        (good_spec(size=1, minSize=2), "spec.size"),
        (good_spec(zones=["a", "a"]), "spec.zones[1]"),
        (good_spec(listeners=[{"portNumber": 1}, {"portNumber": 1}]), "spec.listeners[1]"),
        (good_spec(config={"apiVersion": "v1", "kind": "Secret"}), "spec.config.kind"),
        (good_spec(someObject={"kind": "Secret"}), "spec.someObject.apiVersion"),
        (good_spec(storage="much"), "spec.storage"),
        (good_spec(limits={"cpu": "1x"}), "spec.limits.cpu"),
        ({"image": "nginx"}, "spec.mustSay"),
    ],
)
def test_the_server_rejects_values_that_the_class_forbids(
    spec: Any, field: str, servers: ServerPair
) -> None:
    for server in servers:
        response = server.call("POST", f"{EVERYTHINGS}?{DRY}", everything(spec))

        causes = (response.json().get("details") or {}).get("causes") or ()
        assert response.status == 422
        assert field in [each["field"] for each in causes]


def test_an_object_written_from_python_round_trips_through_the_server(servers: ServerPair) -> None:
    written = good_spec()

    for server in servers:
        response = server.call("POST", f"{EVERYTHINGS}?{DRY}&{STRICT}", everything(written))
        assert response.status == 201, response.body
        stored = Codec().decode(Everything, response.body, wanted="read")
        assert response.json()["spec"] == written
        assert stored.spec == Spec(image="nginx", must_say=None)
