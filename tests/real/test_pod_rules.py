"""Rules of pods and workloads give the same objects and errors as on the real API server."""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from steersman.units import parse_time
from steersman_cluster.apiserver.builtin.pods.pods import bound, check_binding, eviction_options
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.testing import RealControlPlane, fresh_namespace
from steersman_cluster.testing.calls import HttpCaller, HttpResponse
from tests.real.builtin_rules.cases import Case, Object, merged
from tests.real.builtin_rules.job_cases import job_cases, job_change_cases
from tests.real.builtin_rules.pod_cases import POD
from tests.real.builtin_rules.pod_change_cases import GATED, change_cases
from tests.real.builtin_rules.pod_spec_cases import pod_cases
from tests.real.builtin_rules.workload_cases import workload_cases
from tests.unit.apiserver.builtin.kind_handler import KindHandler

OF_THE_REQUEST = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
AT_ONCE = "gracePeriodSeconds=0&propagationPolicy=Background"
UID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture(scope="module")
def api(control_plane: RealControlPlane) -> Iterator[HttpCaller]:
    with control_plane.caller() as api:
        yield api


@pytest.fixture(scope="module")
def place(control_plane: RealControlPlane) -> Iterator[str]:
    """One namespace for all cases: no case changes it."""
    with fresh_namespace(control_plane) as name:
        yield name


@pytest.mark.parametrize("case", [*pod_cases(), *workload_cases(), *job_cases()], ids=str)
def test_a_new_object_is_defaulted_or_refused_as_by_the_real_server(
    case: Case, api: HttpCaller, place: str
) -> None:
    real = api.call("POST", f"{collection(case, place)}?dryRun=All", case.body)

    ours, warnings = created_here(case, place)

    assert comparable(ours) == comparable(real.json())
    # Of what it refuses, it warns by chance.
    assert warnings == (list(real.warnings) if real.status == 201 else [])


@pytest.mark.parametrize("case", [*change_cases(), *job_change_cases()], ids=str)
def test_an_update_is_defaulted_or_refused_as_by_the_real_server(
    case: Case, api: HttpCaller, place: str
) -> None:
    path = f"{collection(case, place)}/{case.body['metadata']['name']}"
    old: Object = kept(api.call("POST", collection(case, place), case.body))
    sent = merged(old, case.change)

    put_at = f"{path}/{case.subresource}" if case.subresource else path
    real = api.call("PUT", f"{put_at}?dryRun=All", sent)
    api.call("DELETE", f"{path}?{AT_ONCE}")

    assert comparable(changed_here(case, sent, old, place)) == comparable(real.json())


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
def test_a_binding_does_to_a_pod_what_the_real_server_does(
    pod: Object, bindings: list[Object], api: HttpCaller, place: str
) -> None:
    pods = f"/api/v1/namespaces/{place}/pods"
    ours = real = kept(api.call("POST", pods, pod))
    response: Object = {}
    refused: Object = {}

    for given in bindings:
        binding = {**given, "metadata": {"name": "one", **given.get("metadata", {})}}
        response = api.call("POST", f"{pods}/one/binding", binding).json()
        real = api.call("GET", f"{pods}/one").json()
        try:
            check_binding(binding, "one")
            ours = bound(ours, binding, node=None, now=moment_of_binding(real))
        except StatusError as refusal:
            refused = refusal.status()
    api.call("DELETE", f"{pods}/one?{AT_ONCE}")

    assert comparable(ours) == comparable(real)
    assert refused == (response if response["status"] == "Failure" else {})


def test_an_eviction_of_another_name_is_refused(api: HttpCaller, place: str) -> None:
    pods = f"/api/v1/namespaces/{place}/pods"
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "two"}}
    kept(api.call("POST", pods, POD))

    real = api.call("POST", f"{pods}/one/eviction", eviction).json()
    api.call("DELETE", f"{pods}/one?{AT_ONCE}")

    with pytest.raises(StatusError) as refused:
        eviction_options(eviction, "one")
    assert refused.value.status() == real


def collection(case: Case, namespace: str) -> str:
    root = "/api/v1" if case.api_version == "v1" else f"/apis/{case.api_version}"
    return f"{root}/namespaces/{namespace}/{case.plural}"


def kept(response: HttpResponse) -> Object:
    obj: Object = response.json()
    assert response.status == 201, obj
    return obj


def created_here(case: Case, namespace: str) -> tuple[Object, list[str]]:
    handler = KindHandler(case.api_version, case.plural)
    try:
        return handler.create(case.body, namespace=namespace), handler.warnings
    except StatusError as refusal:
        return refusal.status(), []


def changed_here(case: Case, sent: Object, old: Object, namespace: str) -> Object:
    handler = KindHandler(case.api_version, case.plural)
    try:
        return handler.update(sent, old, namespace=namespace, subresource=case.subresource)
    except StatusError as refusal:
        return refusal.status()


def comparable(response: Object) -> Any:
    """Without what differs from request to request."""
    same: Object = json.loads(UID.sub("<uid>", json.dumps(response)))
    if same["kind"] == "Status":
        return same
    for name in OF_THE_REQUEST:
        same["metadata"].pop(name, None)
    for condition in (same.get("status") or {}).get("conditions") or ():
        condition["lastTransitionTime"] = "<then>"
    return same


def moment_of_binding(pod: Object) -> datetime:
    conditions = pod["status"].get("conditions") or [{"lastTransitionTime": "2026-01-01T00:00:00Z"}]
    return parse_time(conditions[0]["lastTransitionTime"])
