"""Validation and defaults of Pods and workloads are those of the real API server."""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from steersman.units import parse_time
from steersman_cluster.apiserver.builtin.pods.pods import bound, check_binding, eviction_options
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.testing.calls import HttpResponse
from tests.recorded.builtin_rules.cases import Case, Object, merged
from tests.recorded.builtin_rules.job_cases import job_cases, job_change_cases
from tests.recorded.builtin_rules.pod_cases import POD
from tests.recorded.builtin_rules.pod_change_cases import GATED, change_cases
from tests.recorded.builtin_rules.pod_spec_cases import pod_cases
from tests.recorded.builtin_rules.workload_cases import workload_cases
from tests.recorded.module_recording import ModuleRecording, RecordedCaller
from tests.unit.apiserver.builtin.kind_handler import KindHandler

OF_THE_REQUEST = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
IMMEDIATELY = "gracePeriodSeconds=0&propagationPolicy=Background"
UID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture(scope="module")
def api(real: ModuleRecording) -> Iterator[RecordedCaller]:
    with real.caller() as api:
        yield api


@pytest.fixture(scope="module")
def case_namespace(real: ModuleRecording) -> Iterator[str]:
    """One namespace for all cases: no case changes it."""
    with real.namespace() as name:
        yield name


@pytest.mark.parametrize("case", [*pod_cases(), *workload_cases(), *job_cases()], ids=str)
def test_a_new_object_is_defaulted_or_rejected_as_by_the_real_server(
    case: Case, api: RecordedCaller, case_namespace: str
) -> None:
    real = api.call("POST", f"{collection(case, case_namespace)}?dryRun=All", case.body)

    embedded, warnings = embedded_create(case, case_namespace)

    assert comparable(embedded) == comparable(real.json())
    # The warnings that kube-apiserver sends with an error vary.
    assert warnings == (list(real.warnings) if real.status == 201 else [])


@pytest.mark.parametrize("case", [*change_cases(), *job_change_cases()], ids=str)
def test_an_update_is_defaulted_or_rejected_as_by_the_real_server(
    case: Case, api: RecordedCaller, case_namespace: str
) -> None:
    path = f"{collection(case, case_namespace)}/{case.body['metadata']['name']}"
    old: Object = created(api.call("POST", collection(case, case_namespace), case.body))
    sent = merged(old, case.change)

    put_at = f"{path}/{case.subresource}" if case.subresource else path
    real = api.call("PUT", f"{put_at}?dryRun=All", sent)
    api.send("DELETE", f"{path}?{IMMEDIATELY}")

    assert comparable(embedded_update(case, sent, old, case_namespace)) == comparable(real.json())


@pytest.mark.parametrize(
    ("pod", "bindings"),
    [
        (POD, [{"target": {"kind": "Node", "name": "n1"}}]),
        (POD, [{"target": {"name": "n1"}}, {"target": {"name": "n2"}}]),
        (POD, [{"target": {}}]),
        (POD, [{"target": {"kind": "Unknown", "name": "n1"}}]),
        (POD, [{"metadata": {"name": "two"}, "target": {"name": "n1"}}]),
        (
            POD,
            [
                {
                    "metadata": {"annotations": {"a": "b"}, "labels": {"c": "d"}},
                    "target": {"name": "n"},
                }
            ],
        ),
        (GATED, [{"target": {"name": "n1"}}]),
    ],
    ids=["once", "twice", "nowhere", "unknown", "of another name", "with more", "at gates"],
)
def test_a_binding_changes_a_pod_as_on_the_real_server(
    pod: Object, bindings: list[Object], api: RecordedCaller, case_namespace: str
) -> None:
    pods = f"/api/v1/namespaces/{case_namespace}/pods"
    embedded = real = created(api.call("POST", pods, pod))
    response: Object = {}
    rejected: Object = {}

    for given in bindings:
        binding = {**given, "metadata": {"name": "one", **given.get("metadata", {})}}
        response = api.call("POST", f"{pods}/one/binding", binding).json()
        real = api.call("GET", f"{pods}/one").json()
        try:
            check_binding(binding, "one")
            embedded = bound(embedded, binding, node=None, now=binding_time(real))
        except StatusError as error:
            rejected = error.status()
    api.send("DELETE", f"{pods}/one?{IMMEDIATELY}")

    assert comparable(embedded) == comparable(real)
    assert rejected == (response if response["status"] == "Failure" else {})


def test_an_eviction_of_another_name_is_rejected(api: RecordedCaller, case_namespace: str) -> None:
    pods = f"/api/v1/namespaces/{case_namespace}/pods"
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "two"}}
    created(api.call("POST", pods, POD))

    real = api.call("POST", f"{pods}/one/eviction", eviction).json()
    api.send("DELETE", f"{pods}/one?{IMMEDIATELY}")

    with pytest.raises(StatusError) as rejected:
        eviction_options(eviction, "one")
    assert rejected.value.status() == real


def collection(case: Case, namespace: str) -> str:
    root = "/api/v1" if case.api_version == "v1" else f"/apis/{case.api_version}"
    return f"{root}/namespaces/{namespace}/{case.plural}"


def created(response: HttpResponse) -> Object:
    obj: Object = response.json()
    assert response.status == 201, obj
    return obj


def embedded_create(case: Case, namespace: str) -> tuple[Object, list[str]]:
    handler = KindHandler(case.api_version, case.plural)
    try:
        return handler.create(case.body, namespace=namespace), handler.warnings
    except StatusError as error:
        return error.status(), []


def embedded_update(case: Case, sent: Object, old: Object, namespace: str) -> Object:
    handler = KindHandler(case.api_version, case.plural)
    try:
        return handler.update(sent, old, namespace=namespace, subresource=case.subresource)
    except StatusError as error:
        return error.status()


def comparable(response: Object) -> Any:
    """The response without values that differ between requests."""
    same: Object = json.loads(UID.sub("<uid>", json.dumps(response)))
    if same["kind"] == "Status":
        return same
    for name in OF_THE_REQUEST:
        same["metadata"].pop(name, None)
    for condition in (same.get("status") or {}).get("conditions") or ():
        condition["lastTransitionTime"] = "<time>"
    return same


def binding_time(pod: Object) -> datetime:
    conditions = pod["status"].get("conditions") or [{"lastTransitionTime": "2026-01-01T00:00:00Z"}]
    return parse_time(conditions[0]["lastTransitionTime"])
