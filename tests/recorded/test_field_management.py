"""managedFields: kube-apiserver and the embedded server give the same result for every write."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from steersman.kinds import Codec
from steersman.names import GroupResource, GroupVersionKind
from steersman_cluster.apiserver.apply import FieldManager, entries_after_scale, scale_entries
from steersman_cluster.apiserver.meta.reset_fields import reset_fields
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinResource, BuiltinSchemas
from tests.real.samples import samples
from tests.recorded.field_comparison import APPLY, DEFINITION, MERGE, FieldComparison
from tests.recorded.field_scenarios import SCENARIOS, Object, Scenario, container, workload
from tests.recorded.module_recording import ModuleRecording, RecordedCaller

# More update entries than these are merged.
MAX_UPDATE_MANAGERS = 10

# Kinds with fields that the real server sets after it has computed the managed fields.
DEFAULTED_LATER = {
    "Job",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "Service",
    "VolumeAttributesClass",
}


@pytest.fixture(scope="module")
def api(real: ModuleRecording) -> Iterator[RecordedCaller]:
    """A caller of a server that serves Trials."""
    real.define(DEFINITION)
    with real.caller() as api:
        yield api


@pytest.mark.parametrize(
    "scenario", SCENARIOS, ids=lambda scenario: f"{scenario.kind}: {scenario.name}"
)
def test_both_servers_have_the_same_managed_fields_after_each_step(
    scenario: Scenario, real: ModuleRecording, api: RecordedCaller, namespace: str
) -> None:
    if len(scenario.steps) > MAX_UPDATE_MANAGERS:
        real.wait_for_new_second()  # the oldest entries are merged
    comparison = FieldComparison(api=api, namespace=namespace, kind=scenario.kind)

    for number, step in enumerate(scenario.steps):
        before = comparison.read(step.version)
        expected, after = comparison.real_outcome(step, before)
        actual, result = comparison.steersman_outcome(step, before, after)

        assert (number, actual) == (number, expected)
        if expected.code == 200:
            assert is_part(comparison.without_server_fields(step, result), after)


def test_a_write_of_the_scale_owns_the_replicas(api: RecordedCaller, namespace: str) -> None:
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    body = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "it"},
        "spec": workload(container("web")),
    }
    api.call("POST", f"{path}?fieldManager=a", body)

    for manager, replicas in (("b", 2), ("b", 3), ("c", 4), ("a", 4), ("a", 5)):
        parent, scale = get(api, f"{path}/it"), get(api, f"{path}/it/scale")
        change = {"spec": {"replicas": replicas}}
        target = f"{path}/it/scale?fieldManager={manager}"
        after = api.call("PATCH", target, change, sends=MERGE).json()

        entries = entries_of_scale(parent, scale, after, manager=manager)

        assert entries == get(api, f"{path}/it")["metadata"]["managedFields"]


def test_every_built_in_kind_has_the_same_fields(api: RecordedCaller, namespace: str) -> None:
    schemas = BuiltinSchemas.read()
    resources = {each.gvk: each for each in schemas.resources}

    for sample in samples(namespace):
        gvk = type(sample).resource_type.gvk
        body: Object = json.loads(Codec().encode(sample))
        body |= {"apiVersion": gvk.api_version, "kind": gvk.kind}
        if gvk.kind == "Namespace":
            body["metadata"]["name"] += "-other"  # the fixture created the first
        path = path_of(resources[gvk], namespace)
        field_manager = field_manager_of(resources[gvk], schemas)
        query = "?dryRun=All&fieldManager=a"
        created_response = api.call("POST", path + query, body).json()
        target = f"{path}/{body['metadata']['name']}{query}"
        applied = api.call("PATCH", target, body, sends=APPLY).json()

        created = {
            **created_response,
            "metadata": {**created_response["metadata"], "managedFields": None},
        }
        field_manager.update(None, created, manager="a", time="")
        result = field_manager.apply(None, body, manager="a", force=False, time="")

        assert (gvk, fields_of(result)) == (gvk, fields_of(applied))
        if gvk.kind not in DEFAULTED_LATER:
            assert (gvk, fields_of(created)) == (gvk, fields_of(created_response))


def path_of(resource: BuiltinResource, namespace: str) -> str:
    gvk = resource.gvk
    root = f"/apis/{gvk.api_version}" if gvk.group else f"/api/{gvk.api_version}"
    where = f"namespaces/{namespace}/" if resource.namespaced else ""
    return f"{root}/{where}{resource.plural}"


def field_manager_of(resource: BuiltinResource, schemas: BuiltinSchemas) -> FieldManager:
    gvk = resource.gvk
    return FieldManager(
        gvk=gvk,
        schemas={gvk.api_version: schemas.of(gvk)},
        reset=reset_fields(
            GroupResource(gvk.group, resource.plural),
            "",
            has_status="status" in resource.subresources,
            custom=False,
        ),
    )


def fields_of(obj: Object) -> str:
    return json.dumps([entry["fieldsV1"] for entry in obj["metadata"]["managedFields"]])


def entries_of_scale(parent: Object, scale: Object, after: Object, *, manager: str) -> Any:
    """The managedFields of an object after a write of its Scale."""
    gvk = GroupVersionKind(group="autoscaling", version="v1", kind="Scale")
    field_manager = FieldManager(
        gvk=gvk, schemas={gvk.api_version: BuiltinSchemas.read().of(gvk)}, subresource="scale"
    )
    paths = {"apps/v1": ("spec", "replicas")}
    entries = parent["metadata"]["managedFields"]
    scale["metadata"]["managedFields"] = scale_entries(entries, paths)
    new = copy.deepcopy(after)
    field_manager.update(scale, new, manager=manager, time="2026-01-01T00:00:00Z")
    scaled = new["metadata"]["managedFields"]
    return entries_after_scale(entries, scaled, paths, api_version="apps/v1")


def get(api: RecordedCaller, path: str) -> Object:
    found: Object = api.call("GET", path).json()
    return found


def is_part(actual: Any, real: Any) -> bool:
    """Whether the real object has all fields of ``actual``; it may have defaults, too."""
    if not actual and not real:
        return True
    if isinstance(actual, dict):
        return isinstance(real, dict) and all(is_part(actual[key], real.get(key)) for key in actual)
    if isinstance(actual, list):
        return (
            isinstance(real, list) and len(actual) == len(real) and all(map(is_part, actual, real))
        )
    return bool(actual == real)
