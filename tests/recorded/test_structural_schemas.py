"""The real server and the embedded one accept and reject the same custom resources."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from steersman_cluster.apiserver.custom.definition_status import accepted, terminating
from steersman_cluster.testing.calls import HttpResponse
from tests.recorded.module_recording import ModuleRecording, RecordedCaller
from tests.unit.apiserver.custom.definition_samples import (
    approved,
    definition,
    definition_samples,
    version,
)
from tests.unit.apiserver.custom.stateless_server import (
    StatelessServer,
    WriteResult,
    bare,
    rejected,
)
from tests.unit.apiserver.custom.value_samples import (
    INTEGER,
    STRING,
    VALUE_SAMPLES,
    fields,
    items,
)

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DRY: Final = "?dryRun=All"


@pytest.fixture(scope="module")
def embedded() -> StatelessServer:
    """The embedded server's validation."""
    return StatelessServer()


@pytest.fixture
def api(real: ModuleRecording) -> Iterator[RecordedCaller]:
    """A caller of the real server."""
    with real.caller() as api:
        yield api


def established(real: ModuleRecording, crd: dict[str, Any]) -> str:
    """Create the definition, wait until it is served, and give the path of its resources."""
    real.define(crd)
    spec = crd["spec"]
    return f"/apis/{spec['group']}/v1/namespaces/default/{spec['names']['plural']}"


def real_result(api: RecordedCaller, path: str, obj: dict[str, Any]) -> WriteResult:
    response = api.call("POST", path, obj)
    if response.status != 201:
        return rejected(response.json())
    return WriteResult(201, "", "", (), (), bare(response.json()))


def without_warnings(result: WriteResult) -> WriteResult:
    """The result without warnings, which the caller does not return."""
    return result._replace(warnings=())


def test_a_crd_that_kube_apiserver_rejects_is_rejected_with_the_same_causes(
    api: RecordedCaller, embedded: StatelessServer
) -> None:
    differences: list[tuple[WriteResult, WriteResult]] = []

    for crd in definition_samples():
        expected = real_result(api, DEFINITIONS + DRY, crd)
        actual = without_warnings(embedded.define(crd))
        expected = expected._replace(obj=expected.obj and {"spec": expected.obj["spec"]})
        if actual != expected:
            differences.append((actual, expected))

    assert differences == []


def test_custom_resources_are_stored_or_rejected_as_by_the_real_server(
    real: ModuleRecording, api: RecordedCaller, embedded: StatelessServer
) -> None:
    schemas = {f"f{index}": schema for index, (schema, _) in enumerate(VALUE_SAMPLES)}
    crd = definition(version(schema=fields(spec=fields(**schemas))), group="values.example.com")
    path = established(real, crd)
    (resource,) = embedded.established(crd)
    differences: list[tuple[WriteResult, WriteResult]] = []

    for index, (_, values) in enumerate(VALUE_SAMPLES):
        for value in values:
            obj = {
                "apiVersion": resource.gvk.api_version,
                "kind": "Sample",
                "metadata": {"name": "sample"},
                "spec": {f"f{index}": value},
            }
            expected = real_result(api, path + DRY, obj)
            actual = without_warnings(embedded.create(resource, obj))
            if actual != expected:
                differences.append((actual, expected))

    assert differences == []


def ratchet(limit: int) -> dict[str, Any]:
    """A definition that limits strings and numbers to ``limit``."""
    text = {**STRING, "maxLength": limit}
    item = {**fields(name=STRING, text=text), "required": ["name"]}
    by_name = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    spec = fields(
        text=text,
        count={**INTEGER, "maximum": limit},
        inner=fields(text=text, other=STRING),
        texts=items(text),
        by_name=items(item, **by_name),
        either={**fields(a=text, b=text), "oneOf": [{"properties": {"a": {"maxLength": limit}}}]},
    )
    return definition(version(schema=fields(spec=spec)), group="ratchet.example.com")


UPDATES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"new": "x"},
    {"text": "longer still"},
    {"text": "x"},
    {"count": 99},
    {"inner": {"text": "long text", "other": "changed"}},
    {"inner": {"text": "other text", "other": "x"}},
    {"texts": ["long text"]},
    {"texts": ["long text", "x"]},
    {"by_name": [{"name": "a", "text": "long text"}, {"name": "b"}]},
    {"by_name": [{"name": "b", "text": "long text"}]},
    {"either": {"a": "long text", "b": "x"}},
    {"either": {"a": "long text", "b": "long text"}},
)


def test_an_unchanged_invalid_value_does_not_prevent_an_update(
    real: ModuleRecording, api: RecordedCaller, embedded: StatelessServer
) -> None:
    path = established(real, ratchet(100))
    spec = {
        "text": "long text",
        "count": 50,
        "inner": {"text": "long text", "other": "x"},
        "texts": ["long text"],
        "by_name": [{"name": "a", "text": "long text"}],
        "either": {"a": "long text"},
    }
    obj = {"apiVersion": "ratchet.example.com/v1", "kind": "Sample", "metadata": {"name": "old"}}
    old = api.call("POST", path, {**obj, "spec": spec}).json()
    live = api.call("GET", f"{DEFINITIONS}/samples.ratchet.example.com").json()
    strict = ratchet(3)
    assert api.call("PUT", live_path(live), {**live, "spec": strict["spec"]}).status == 200
    probe = {**obj, "metadata": {"name": "new"}, "spec": {"text": "long text"}}
    api.call_until(lambda response: response.status == 422, "POST", path + DRY, probe)
    (resource,) = embedded.established(strict)

    responses = {}
    for index, change in enumerate(UPDATES):
        new = {**old, "spec": {**spec, **change}}
        response = api.call("PUT", f"{path}/old{DRY}", new)
        expected = [] if response.status == 200 else rejected(response.json()).causes
        actual = [
            (each.field, each.type, each.body)
            for each in resource.strategy.validate_update(new, old)
        ]
        responses[index] = (sorted(actual), sorted(expected))

    assert {index: each for index, each in responses.items() if each[0] != each[1]} == {}


def live_path(crd: dict[str, Any]) -> str:
    return f"{DEFINITIONS}/{crd['metadata']['name']}"


def named(plural: str, kind: str, **names: Any) -> dict[str, Any]:
    spec_names = {"plural": plural, "kind": kind, **names}
    return definition(group="naming.example.com", names=spec_names)


# In creation order: the names of later definitions conflict with those of earlier ones.
NAMINGS: Final = (
    named("firsts", "First", shortNames=["f", "one"], categories=["all"]),
    named("seconds", "Second", shortNames=["f", "two"]),
    named("thirds", "First"),
    named("fourths", "Fourth", singular="firsts"),
    named("fifths", "Fifth", listKind="FirstList", shortNames=["one", "first"]),
    approved("unapproved, for now", group="naming.k8s.io"),
    approved("https://example.com/pull/1", group="approved.k8s.io"),
)


def without_times(status: dict[str, Any]) -> dict[str, Any]:
    conditions = [
        {key: value for key, value in each.items() if key != "lastTransitionTime"}
        for each in status["conditions"]
    ]
    return {**status, "conditions": sorted(conditions, key=lambda each: each["type"])}


def test_a_definition_gets_the_status_that_the_real_server_gives_it(api: RecordedCaller) -> None:
    before: list[dict[str, Any]] = []
    responses: list[tuple[Any, Any]] = []

    for crd in NAMINGS:
        created = api.call("POST", DEFINITIONS, crd).json()
        actual = accepted(created, before, now="now")
        live = final_definition(
            api, live_path(created), conditions=len(actual["status"]["conditions"])
        )
        responses.append((without_times(actual["status"]), without_times(live["status"])))
        before.append(live)
    deleted = api.call("DELETE", live_path(before[0])).json()

    assert [one for one, _ in responses] == [other for _, other in responses]
    terminated = terminating(before[0], "now")
    assert deleted["metadata"]["finalizers"] == terminated["metadata"]["finalizers"]
    assert without_times(deleted["status"]) == without_times(terminated["status"])


def final_definition(api: RecordedCaller, path: str, *, conditions: int) -> dict[str, Any]:
    """The definition, once kube-apiserver's controllers have written all conditions."""

    def is_final(response: HttpResponse) -> bool:
        found = response.json()["status"]["conditions"] or []
        return len(found) == conditions and all(each["reason"] != "Installing" for each in found)

    live: dict[str, Any] = api.call_until(is_final, "GET", path).json()
    return live
