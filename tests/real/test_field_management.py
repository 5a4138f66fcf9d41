"""managedFields: both implementations give the same result for every write."""

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
from steersman_cluster.testing import RealControlPlane
from steersman_cluster.testing.calls import HttpCaller
from tests.real.field_replay import APPLY, DEFINITION, MERGE, Sides
from tests.real.field_scenarios import SCENARIOS, Object, Scenario, container, workload
from tests.real.samples import samples

# Kinds that get some of their fields when no manager can own them any more.
FILLED_IN_LATER = {
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
def api(control_plane: RealControlPlane) -> Iterator[HttpCaller]:
    """Plain calls to a server that knows Trials."""
    with control_plane.caller() as api:
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        api.call("POST", definitions, DEFINITION)
        control_plane.kubectl(
            "wait", "--for=condition=Established", f"crd/{DEFINITION['metadata']['name']}"
        )
        yield api


@pytest.mark.parametrize(
    "scenario", SCENARIOS, ids=lambda scenario: f"{scenario.kind}: {scenario.name}"
)
def test_both_servers_have_the_same_managed_fields_after_each_step(
    scenario: Scenario, api: HttpCaller, namespace: str
) -> None:
    sides = Sides(api=api, namespace=namespace, kind=scenario.kind)

    for number, step in enumerate(scenario.steps):
        before = sides.read(step.version)
        real, after = sides.real(step, before)
        ours, result = sides.ours(step, before, after)

        assert (number, ours) == (number, real)
        if real.code == 200:
            assert is_part(sides.written_by(step, result), after)


def test_a_write_of_the_scale_owns_the_replicas(api: HttpCaller, namespace: str) -> None:
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    body = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "it"},
        "spec": workload(container("web")),
    }
    api.call("POST", f"{path}?fieldManager=a", body)

    for manager, replicas in (("b", 2), ("b", 3), ("c", 4), ("a", 4), ("a", 5)):
        parent, scale = read(api, f"{path}/it"), read(api, f"{path}/it/scale")
        change = {"spec": {"replicas": replicas}}
        target = f"{path}/it/scale?fieldManager={manager}"
        after = api.call("PATCH", target, change, sends=MERGE).json()

        entries = entries_of_scale(parent, scale, after, manager=manager)

        assert entries == read(api, f"{path}/it")["metadata"]["managedFields"]


def test_every_built_in_kind_has_the_same_fields(api: HttpCaller, namespace: str) -> None:
    schemas = BuiltinSchemas.read()
    resources = {each.gvk: each for each in schemas.resources}

    for sample in samples(namespace):
        gvk = type(sample).resource_type.gvk
        body: Object = json.loads(Codec().encode(sample))
        body |= {"apiVersion": gvk.api_version, "kind": gvk.kind}
        if gvk.kind == "Namespace":
            body["metadata"]["name"] += "-other"  # the first one is there
        path = path_of(resources[gvk], namespace)
        management = managing(resources[gvk], schemas)
        query = "?dryRun=All&fieldManager=a"
        born = api.call("POST", path + query, body).json()
        target = f"{path}/{body['metadata']['name']}{query}"
        applied = api.call("PATCH", target, body, sends=APPLY).json()

        created = {**born, "metadata": {**born["metadata"], "managedFields": None}}
        management.update(None, created, manager="a", time="")
        result = management.apply(None, body, manager="a", force=False, time="")

        assert (gvk, fields_of(result)) == (gvk, fields_of(applied))
        if gvk.kind not in FILLED_IN_LATER:
            assert (gvk, fields_of(created)) == (gvk, fields_of(born))


def path_of(resource: BuiltinResource, namespace: str) -> str:
    gvk = resource.gvk
    root = f"/apis/{gvk.api_version}" if gvk.group else f"/api/{gvk.api_version}"
    where = f"namespaces/{namespace}/" if resource.namespaced else ""
    return f"{root}/{where}{resource.plural}"


def managing(resource: BuiltinResource, schemas: BuiltinSchemas) -> FieldManager:
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
    """What a write of the Scale makes of its object's managedFields."""
    gvk = GroupVersionKind(group="autoscaling", version="v1", kind="Scale")
    management = FieldManager(
        gvk=gvk, schemas={gvk.api_version: BuiltinSchemas.read().of(gvk)}, subresource="scale"
    )
    paths = {"apps/v1": ("spec", "replicas")}
    entries = parent["metadata"]["managedFields"]
    scale["metadata"]["managedFields"] = scale_entries(entries, paths)
    new = copy.deepcopy(after)
    management.update(scale, new, manager=manager, time="2026-01-01T00:00:00Z")
    scaled = new["metadata"]["managedFields"]
    return entries_after_scale(entries, scaled, paths, api_version="apps/v1")


def read(api: HttpCaller, path: str) -> Object:
    found: Object = api.call("GET", path).json()
    return found


def is_part(ours: Any, real: Any) -> bool:
    """Whether the real object has all that ours has; it may have defaults beside."""
    if not ours and not real:
        return True
    if isinstance(ours, dict):
        return isinstance(real, dict) and all(is_part(ours[key], real.get(key)) for key in ours)
    if isinstance(ours, list):
        return isinstance(real, list) and len(ours) == len(real) and all(map(is_part, ours, real))
    return bool(ours == real)
