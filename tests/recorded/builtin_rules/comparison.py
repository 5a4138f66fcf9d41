"""A case on the real server and on steersman's strategies, and what both have in common."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any, Self

from steersman_cluster.apiserver.builtin.network.service_network import ADDRESSES
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.testing.calls import HttpResponse
from tests.recorded.builtin_rules.cases import Case, Object, merged
from tests.recorded.module_recording import RecordedCaller
from tests.unit.apiserver.builtin.kind_handler import KindHandler

# What controllers of kube-apiserver write last, a short time after a create.
LAST_CONDITIONS = {"customresourcedefinitions": "Established", "flowschemas": "Dangling"}
RANDOM_METADATA = ("uid", "resourceVersion", "creationTimestamp", "managedFields")


class RealServer:
    """The real server with the objects of a case, which are deleted after the response."""

    def __init__(self, api: RecordedCaller, case: Case, namespace: str) -> None:
        self._api = api
        self._case = case
        root = "/api/v1" if case.api_version == "v1" else f"/apis/{case.api_version}"
        self._path = f"{root}/namespaces/{namespace}" if case.namespaced else root
        self._path += f"/{case.plural}"
        self.old: Object | None = None
        self.beside: list[Object] = []

    def response(self) -> Object:
        """The response to the request of the case."""
        case = self._case
        try:
            self.beside = [self._created(each) for each in case.beside]
            if case.change is None:
                return self._send("POST", self._path, case.body, dry_run=not case.for_real)
            path = f"{self._path}/{case.body['metadata']['name']}"
            if case.there_already:
                self.old = self._send("GET", path, None, dry_run=False)
            else:
                self.old = self._created(case.body)
            if case.subresource:
                path += f"/{case.subresource}"
            return self._send("PUT", path, merged(self.old, case.change), dry_run=True)
        finally:
            for each in () if case.there_already else (case.body, *case.beside):
                self._api.send("DELETE", f"{self._path}/{each['metadata']['name']}")

    @contextmanager
    def stored_object(self) -> Iterator[Self]:
        """Store the object of the case during the block."""
        path = f"{self._path}/{self._case.body['metadata']['name']}"
        self.old = self._created(self._case.body)
        if condition := LAST_CONDITIONS.get(self._case.plural):
            response = self._api.call_until(
                lambda each: has_condition(each, condition), "GET", path
            )
            self.old = response.json()
        try:
            yield self
        finally:
            self._api.send("DELETE", path)
            self._api.send(
                "PATCH",
                path,
                {"metadata": {"finalizers": None}},
                sends="application/merge-patch+json",
            )

    def put(self, metadata: Object) -> Object:
        """Dry-run an update of only the metadata."""
        body = merged(self.old, {"metadata": metadata})
        return self._send("PUT", f"{self._path}/{body['metadata']['name']}", body, dry_run=True)

    def dry_run_delete(self) -> Object:
        """Dry-run a deletion."""
        path = f"{self._path}/{self._case.body['metadata']['name']}"
        return self._send("DELETE", path, None, dry_run=True)

    def _created(self, body: Object) -> Object:
        response = self._send("POST", self._path, body, dry_run=False)
        assert response["kind"] != "Status", response
        return response

    def _send(self, method: str, path: str, body: Object | None, *, dry_run: bool) -> Object:
        response = self._api.call(method, f"{path}?dryRun=All" if dry_run else path, body)
        found: Object = response.json()
        return found


def has_condition(response: HttpResponse, name: str) -> bool:
    """Whether the condition is final."""
    conditions = response.json().get("status", {}).get("conditions") or ()
    return any(each["type"] == name and each["reason"] != "Installing" for each in conditions)


def steersman_result(
    case: Case, old: Object | None, beside: list[Object], namespace: str
) -> Object:
    """The result of steersman with the objects that the real server stored."""
    handler = KindHandler(case.api_version, case.plural, stored=beside if old is None else [old])
    if case.plural == "services" and old is None:
        handler.network.stored(None, {"spec": {"clusterIPs": ["10.0.0.1"]}})
    object_namespace = namespace if case.namespaced else ""
    try:
        if old is None:
            return handler.create(case.body, namespace=object_namespace)
        sent = merged(old, case.change)
        return handler.update(sent, old, namespace=object_namespace, subresource=case.subresource)
    except StatusError as error:
        return error.status()


def comparable(response: Object, case: Case, old: Object | None) -> Object:
    """The response without values that differ on each request."""
    if response["kind"] == "Status":
        return without_random_group(response) if case.plural == "events" else response
    if uid := response["metadata"].get("uid"):
        # Some kinds copy the uid to other fields.
        response = json.loads(json.dumps(response).replace(uid, "uid"))
    metadata = {k: v for k, v in response["metadata"].items() if k not in RANDOM_METADATA}
    response = {**response, "metadata": metadata}
    if case.plural == "persistentvolumes":
        response["status"] = {**response["status"], "lastPhaseTransitionTime": "now"}
    if case.plural == "certificatesigningrequests":
        requester = ("username", "uid", "groups", "extra")
        response["spec"] = {k: v for k, v in response["spec"].items() if k not in requester}
    if case.plural == "services":
        requested = case.body.get("spec", {}) if old is None else merged(old, case.change)["spec"]
        response["spec"] = without_allocated_values(response["spec"], requested)
    return response


def without_random_group(error: Object) -> Object:
    """The error without the group of an Event, which the real server selects at its start."""
    details = {key: value for key, value in error["details"].items() if key != "group"}
    message = error["message"].replace("Event.events.k8s.io", "Event", 1)
    return {**error, "message": message, "details": details}


def without_allocated_values(spec: Object, requested: Object) -> Object:
    """The spec of a Service without allocated addresses and ports."""
    spec = dict(spec)
    if spec.get("clusterIP") not in (None, "None", requested.get("clusterIP")):
        assert ip_address(spec["clusterIP"]) in ADDRESSES
        assert spec["clusterIPs"] == [spec["clusterIP"]]
        spec["clusterIP"] = spec["clusterIPs"] = "allocated"
    wanted: set[Any] = {each.get("nodePort") for each in requested.get("ports", ())}
    if "ports" in spec:
        spec["ports"] = [
            {**each, "nodePort": "allocated"}
            if each.get("nodePort") not in {*wanted, None}
            else each
            for each in spec["ports"]
        ]
    if spec.get("healthCheckNodePort") != requested.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = "allocated" if "healthCheckNodePort" in spec else None
    return spec
