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

# How often is asked before giving up; each answer takes the server a millisecond or more.
PATIENCE: Final = 5000


class Both(NamedTuple):
    """The real server and our own, asked the same things."""

    real: HttpCaller
    ours: HttpCaller


@pytest.fixture(scope="module")
def both(control_plane: RealControlPlane) -> Iterator[Both]:
    """Both servers, which know the kind that uses every feature."""
    with running_embedded_control_plane(clock=SystemClock()) as embedded:
        with control_plane.caller() as real, embedded.caller() as ours:
            for server in (real, ours):
                install(server, Everything)
            yield Both(real, ours)


def install(server: HttpCaller, kind: type[Resource]) -> None:
    """Define the kind, and ask for its objects until they are served."""
    where = kind.resource_type
    response = server.call("POST", f"{DEFINITIONS}?{STRICT}", as_document(crd_of(kind)))
    assert response.status in (201, 409), response.body
    path = f"/apis/{where.gvk.api_version}/{where.plural}"
    for _ in range(PATIENCE):
        if server.call("GET", path).status == 200:
            return
    pytest.fail(f"{where} was never served")


@pytest.mark.parametrize("kind", example_kinds(), ids=lambda kind: kind.__qualname__)
def test_the_definition_of_an_example_is_accepted_with_strict_validation(
    kind: type[Resource], both: Both
) -> None:
    crd = as_document(crd_of(kind))
    # Applied: some other test may have installed it on this server before.
    path = f"{DEFINITIONS}/{crd['metadata']['name']}?{STRICT}&{DRY}&fieldManager=tests&force=true"

    response = both.real.call("PATCH", path, crd, sends="application/apply-patch+yaml")

    assert (response.status in (200, 201), response.warnings) == (True, ())


@pytest.mark.parametrize("module", BUILTIN_MODULES)
def test_every_built_in_part_can_be_embedded_in_a_custom_resource(module: str, both: Both) -> None:
    crd = as_document(crd_of(kind_with_parts_of(module)))

    response = both.real.call("POST", f"{DEFINITIONS}?{STRICT}&{DRY}", crd)

    assert (response.status, response.warnings) == (201, ())


def normal(crd: Document) -> Any:
    """A definition without what the server adds to every one."""
    spec = {key: value for key, value in crd["spec"].items() if key != "conversion"}
    return {"name": crd["metadata"]["name"], "spec": spec}


def test_the_server_stores_a_kind_with_every_feature_unchanged(both: Both) -> None:
    made = as_document(crd_of(Everything))

    stored = [server.call("GET", f"{DEFINITIONS}/{crd_of(Everything).name}") for server in both]

    assert [normal(each.json()) for each in stored] == [normal(made), normal(made)]


def named(spec: Any, name: str = "drawn", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "every.example.com/v1",
        "kind": "Everything",
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


def verdict(response: HttpResponse) -> dict[str, Any]:
    """What became of an object: what it is now, or why not, in whatever order."""
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


# Servers stay as they are: nothing of all this is kept.
EXAMPLES: Final = settings(
    max_examples=2 * settings().max_examples,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def assert_enough(seen: Counter[int], *verdicts: int) -> None:
    """Fail unless all of these were given often."""
    assert min(seen[each] for each in verdicts) > EXAMPLES.max_examples / 10, seen


def test_both_servers_accept_and_refuse_the_same_objects(both: Both) -> None:
    seen: Counter[int] = Counter()

    @EXAMPLES
    @given(parts("spec"))
    # As a text of some format the real server takes a list, unless a rule looks at it.
    @example(good_spec(day=[]))
    @example(good_spec(since=["2026-01-02"]))
    # A null is nothing where it is described, even what every resource has.
    @example(good_spec(config={"apiVersion": "v1", "kind": None}))
    @example(good_spec(config={"apiVersion": "v1", "kind": "ConfigMap", "metadata": None}))
    @example(good_spec(someObject={"apiVersion": "v1", "kind": None}))
    @example(good_spec(someObject={"apiVersion": "v1", "kind": "ConfigMap", "metadata": None}))
    def same(spec: Any) -> None:
        real, ours = (
            verdict(server.call("POST", f"{EVERYTHINGS}?{DRY}", named(spec))) for server in both
        )
        seen[real["status"]] += 1
        assert ours == real

    same()

    assert_enough(seen, 201, 422)


class Kept(NamedTuple):
    """An object on a server, to be updated."""

    server: HttpCaller
    metadata: Mapping[str, Any]

    def put(self, subresource: str = "", **parts: Any) -> dict[str, Any]:
        """What would become of it."""
        path = f"{EVERYTHINGS}/{self.metadata['name']}{subresource}?{DRY}"
        return verdict(self.server.call("PUT", path, {**named(None), **parts} | self._about()))

    def _about(self) -> dict[str, Any]:
        return {"metadata": {key: self.metadata[key] for key in ("name", "resourceVersion")}}


@pytest.fixture
def kept(both: Both) -> Iterator[tuple[Kept, Kept]]:
    """The same object on both servers."""
    made = [server.call("POST", EVERYTHINGS, named(good_spec(size=3), "kept")) for server in both]
    assert [each.status for each in made] == [201, 201]
    real, ours = (
        Kept(server, each.json()["metadata"]) for server, each in zip(both, made, strict=True)
    )
    yield real, ours
    for server in both:
        server.call("DELETE", f"{EVERYTHINGS}/kept")


def test_both_servers_accept_and_refuse_the_same_updates(kept: tuple[Kept, Kept]) -> None:
    seen: Counter[int] = Counter()

    @EXAMPLES
    @given(parts("spec"))
    def same(change: Any) -> None:
        spec = good_spec() | change if isinstance(change, dict) else change
        real, ours = (each.put(spec=spec) for each in kept)
        seen[real["status"]] += 1
        assert ours == real

    same()

    assert_enough(seen, 200, 422)


def test_both_servers_accept_and_refuse_the_same_status_updates(kept: tuple[Kept, Kept]) -> None:
    seen: Counter[int] = Counter()

    @EXAMPLES
    @given(parts("status"))
    def same(status: Any) -> None:
        real, ours = (each.put("/status", spec=good_spec(), status=status) for each in kept)
        seen[real["status"]] += 1
        assert ours == real

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
def test_the_server_refuses_values_that_the_class_forbids(
    spec: Any, field: str, both: Both
) -> None:
    for server in both:
        response = server.call("POST", f"{EVERYTHINGS}?{DRY}", named(spec))

        causes = (response.json().get("details") or {}).get("causes") or ()
        assert response.status == 422
        assert field in [each["field"] for each in causes]


def test_an_object_written_from_python_round_trips_through_the_server(both: Both) -> None:
    written = good_spec()

    for server in both:
        response = server.call("POST", f"{EVERYTHINGS}?{DRY}&{STRICT}", named(written))
        assert response.status == 201, response.body
        kept = Codec().decode(Everything, response.body, wanted="read")
        assert response.json()["spec"] == written
        assert kept.spec == Spec(image="nginx", must_say=None)
