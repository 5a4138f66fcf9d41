"""Built-in rules give the same objects and errors as on the real API server."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any, Self

import pytest

from steersman_cluster.apiserver.builtin.network.service_network import ADDRESSES
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.testing import RealControlPlane, fresh_namespace
from steersman_cluster.testing.calls import HttpCaller
from tests.real.builtin_rules.cases import Case, Object, merged, placed
from tests.real.builtin_rules.cluster_cases import cluster_cases
from tests.real.builtin_rules.data_cases import data_cases
from tests.real.builtin_rules.other_cases import other_cases
from tests.real.builtin_rules.sample_cases import sample_cases
from tests.real.builtin_rules.service_cases import service_cases
from tests.unit.apiserver.builtin.kind_handler import KindHandler

SAMPLES = [*sample_cases()]
CASES = [*service_cases(), *data_cases(), *other_cases(), *cluster_cases(), *SAMPLES]
OF_THE_REQUEST = ("uid", "resourceVersion", "creationTimestamp", "managedFields")


@pytest.fixture(scope="module")
def api(control_plane: RealControlPlane) -> Iterator[HttpCaller]:
    with control_plane.caller() as api:
        yield api


@pytest.fixture(scope="module")
def place(control_plane: RealControlPlane) -> Iterator[str]:
    """One namespace for all cases: no case changes it."""
    with fresh_namespace(control_plane) as name:
        yield name


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_builtin_rule_does_what_the_real_server_does(
    case: Case, api: HttpCaller, place: str
) -> None:
    case = placed(case, place)
    there = There(api, case, place)

    real = there.response()
    ours = answer_here(case, there.old, there.beside, place)

    assert comparable(ours, case, there.old) == comparable(real, case, there.old)


@pytest.mark.parametrize("case", SAMPLES, ids=str)
def test_the_table_has_the_update_and_delete_strategy_of_each_kind(
    case: Case, api: HttpCaller, place: str
) -> None:
    case = placed(case, place)
    rules = KindHandler(case.api_version, case.plural).strategy

    with There(api, case, place).stored() as there:
        unconditional = there.put({"resourceVersion": None})
        created = there.put({"resourceVersion": None, "uid": None, "name": "missing"})
        deleted = there.tried_delete()

    stays = (
        rules.orphan_by_default
        or rules.begin_deletion is not None
        or "finalizers" in deleted["metadata"]
    )
    assert (unconditional.get("code") != 422) == rules.allow_unconditional_update
    assert (created.get("code") != 404) == rules.allow_create_on_update
    assert (deleted["kind"] != "Status") == (rules.return_deleted_object or stays)


class There:
    """The real server, with what a case needs to be there; it is gone when it is answered."""

    def __init__(self, api: HttpCaller, case: Case, namespace: str) -> None:
        self._api = api
        self._case = case
        root = "/api/v1" if case.api_version == "v1" else f"/apis/{case.api_version}"
        self._path = f"{root}/namespaces/{namespace}" if case.namespaced else root
        self._path += f"/{case.plural}"
        self.old: Object | None = None
        self.beside: list[Object] = []

    def response(self) -> Object:
        """What it answers."""
        case = self._case
        try:
            self.beside = [self._created(each) for each in case.beside]
            if case.change is None:
                return self._send("POST", self._path, case.body, tried=not case.for_real)
            path = f"{self._path}/{case.body['metadata']['name']}"
            if case.there_already:
                self.old = self._send("GET", path, None, tried=False)
            else:
                self.old = self._created(case.body)
            if case.subresource:
                path += f"/{case.subresource}"
            return self._send("PUT", path, merged(self.old, case.change), tried=True)
        finally:
            for each in () if case.there_already else (case.body, *case.beside):
                self._api.call("DELETE", f"{self._path}/{each['metadata']['name']}")

    @contextmanager
    def stored(self) -> Iterator[Self]:
        """The object of the case is really there while the block runs."""
        path = f"{self._path}/{self._case.body['metadata']['name']}"
        self.old = self._created(self._case.body)
        try:
            yield self
        finally:
            self._api.call("DELETE", path)
            self._api.call(
                "PATCH",
                path,
                {"metadata": {"finalizers": None}},
                sends="application/merge-patch+json",
            )

    def put(self, metadata: Object) -> Object:
        """Try to replace the object by itself with other metadata."""
        body = merged(self.old, {"metadata": metadata})
        return self._send("PUT", f"{self._path}/{body['metadata']['name']}", body, tried=True)

    def tried_delete(self) -> Object:
        """Try to delete it."""
        path = f"{self._path}/{self._case.body['metadata']['name']}"
        return self._send("DELETE", path, None, tried=True)

    def _created(self, body: Object) -> Object:
        response = self._send("POST", self._path, body, tried=False)
        assert response["kind"] != "Status", response
        return response

    def _send(self, method: str, path: str, body: Object | None, *, tried: bool) -> Object:
        response = self._api.call(method, f"{path}?dryRun=All" if tried else path, body)
        found: Object = response.json()
        return found


def answer_here(case: Case, old: Object | None, beside: list[Object], namespace: str) -> Object:
    """What our functions answer, given what is stored there."""
    handler = KindHandler(case.api_version, case.plural, stored=beside if old is None else [old])
    if case.plural == "services" and old is None:
        handler.network.stored(None, {"spec": {"clusterIPs": ["10.0.0.1"]}})
    where = namespace if case.namespaced else ""
    try:
        if old is None:
            return handler.create(case.body, namespace=where)
        sent = merged(old, case.change)
        return handler.update(sent, old, namespace=where, subresource=case.subresource)
    except StatusError as refusal:
        return refusal.status()


def comparable(response: Object, case: Case, old: Object | None) -> Object:
    """Without what differs from request to request."""
    if response["kind"] == "Status":
        return without_chance(response) if case.plural == "events" else response
    if uid := response["metadata"].get("uid"):
        # Some kinds write it into other fields too.
        response = json.loads(json.dumps(response).replace(uid, "uid"))
    metadata = {k: v for k, v in response["metadata"].items() if k not in OF_THE_REQUEST}
    response = {**response, "metadata": metadata}
    if case.plural == "persistentvolumes":
        response["status"] = {**response["status"], "lastPhaseTransitionTime": "now"}
    if case.plural == "certificatesigningrequests":
        who = ("username", "uid", "groups", "extra")
        response["spec"] = {k: v for k, v in response["spec"].items() if k not in who}
    if case.plural == "services":
        asked = case.body.get("spec", {}) if old is None else merged(old, case.change)["spec"]
        response["spec"] = without_given(response["spec"], asked)
    return response


def without_chance(refusal: Object) -> Object:
    """Which of its two groups an Event is refused in, the real server decides when it starts."""
    details = {key: value for key, value in refusal["details"].items() if key != "group"}
    message = refusal["message"].replace("Event.events.k8s.io", "Event", 1)
    return {**refusal, "message": message, "details": details}


def without_given(spec: Object, asked: Object) -> Object:
    """Addresses and ports that a Service was given are any; those that it asked for are not."""
    spec = dict(spec)
    if spec.get("clusterIP") not in (None, "None", asked.get("clusterIP")):
        assert ip_address(spec["clusterIP"]) in ADDRESSES
        assert spec["clusterIPs"] == [spec["clusterIP"]]
        spec["clusterIP"] = spec["clusterIPs"] = "given"
    wanted: set[Any] = {each.get("nodePort") for each in asked.get("ports", ())}
    if "ports" in spec:
        spec["ports"] = [
            {**each, "nodePort": "given"} if each.get("nodePort") not in {*wanted, None} else each
            for each in spec["ports"]
        ]
    if spec.get("healthCheckNodePort") != asked.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = "given" if "healthCheckNodePort" in spec else None
    return spec
