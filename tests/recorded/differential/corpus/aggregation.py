"""API groups and their servers, the parts of the control plane, and rare features of kinds.

The real server registers groups with a delay, so that requests are repeated until they succeed.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping

from tests.recorded.differential.corpus.definitions import (
    DEFINITIONS,
    FREE,
    SETUP_WIDGETS,
    WIDGET,
    an_object,
    define,
    definition,
    is_found,
    is_missing,
    version,
)
from tests.recorded.differential.corpus.kinds import JSON_PATCH, MERGE_PATCH, Place, builtin_kinds
from tests.recorded.differential.scenario import Answer, Json, Request, Scenario, Settled

API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
COMPONENTS = "/api/v1/componentstatuses"

MANAGED = "kube-aggregator.kubernetes.io/automanaged"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

TIME = "2026-01-02T03:04:05Z"
CERTIFICATE = (
    "MIIBBjCBraADAgECAgEBMAoGCCqGSM49BAMCMAwxCjAIBgNVBAMMAWEwIBcNMjAwMTAxMDAwMDAwWhgP"
    "MjA5MDAxMDEwMDAwMDBaMAwxCjAIBgNVBAMMAWEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR4msLU"
    "NdHcAIs/8I/z7oz/vi8P0tiY4DhNMzUV4XShRmipwnF8MkVDWQtKecSGhaEViR06olXXzYSnVoxEMpNw"
    "MAoGCCqGSM49BAMCA0gAMEUCIQDUwLA6Vj4PDO26EdWYhLyzUEzhALMXLnWupYqskavXXgIgZr9a+saZ"
    "IOcjp+03wP6CZlDagyb0tdNjiO1dPzGh1kE="
)


def scenarios() -> Iterator[Scenario]:
    """The scenarios of this module."""
    yield _from_the_beginning()
    yield _with_definitions()
    yield _by_hand()
    yield _elsewhere()
    yield _hidden()
    yield _components()
    yield _approvals(
        Place(builtin_kinds()["certificates.k8s.io/v1/certificatesigningrequests"], "decided")
    )
    for title in ("autoscaling/v1", "autoscaling/v2"):
        kind = builtin_kinds()[f"{title}/horizontalpodautoscalers"]
        yield _measured(Place(kind, "measured"))
    yield _scale_forms(Place(WIDGET, "scale-forms", needs=(SETUP_WIDGETS,)))
    yield _scale_forms(Place(builtin_kinds()["apps/v1/deployments"], "scale-forms"))


def _get(name: str, path: str, *, accept: str = "", until: Settled | None = None) -> Request:
    headers = {"Accept": accept} if accept else {}
    return Request(name=name, method="GET", path=path, headers=headers, until=until)


def _registered(name: str, of: str, until: Settled = is_found) -> Request:
    return _get(name, f"{API_SERVICES}/{of}", until=until)


def _merge(name: str, of: str, change: Json) -> Request:
    headers = {"Content-Type": MERGE_PATCH}
    path = f"{API_SERVICES}/{of}"
    return Request(name=name, method="PATCH", path=path, body=change, headers=headers)


def _delete(name: str, of: str) -> Request:
    return Request(name=name, method="DELETE", path=f"{API_SERVICES}/{of}")


def _create(name: str, body: Json) -> Request:
    return Request(name=name, method="POST", path=API_SERVICES, body=body)


def _has_priority(priority: int) -> Settled:
    return lambda answer: bool(answer.json()["spec"]["versionPriority"] == priority)


def _is_said_to(reason: str) -> Settled:
    def is_said(answer: Answer) -> bool:
        conditions = answer.json().get("status", {}).get("conditions", [])
        return any(each["reason"] == reason for each in conditions)

    return is_said


def _has_status(status: int) -> Settled:
    return lambda answer: answer.status == status


def _from_the_beginning() -> Scenario:
    """A built-in APIService is not restored while the server runs."""
    name = "v1.scheduling.k8s.io"
    changed = {"spec": {"versionPriority": 16}}
    return Scenario(
        name="aggregation/builtin",
        first=True,
        requests=(
            _get("all", f"{API_SERVICES}?labelSelector={MANAGED}%3Donstart", accept=METADATA_LIST),
            _get("core", f"{API_SERVICES}/v1."),
            _get("group", f"{API_SERVICES}/{name}"),
            _get("versions", f"{API_SERVICES}/v2.autoscaling", accept=TABLE),
            _merge("changed", name, changed),
            _registered("still-changed", name, _has_priority(16)),
            _merge("changed-back", name, {"spec": {"versionPriority": 15}}),
        ),
    )


def _with_definitions() -> Scenario:
    group = "flown.example.com"
    schema = an_object({"spec": FREE})
    document = definition(
        group, "kites", "Kite", version("v1", schema), version("v2", schema, storage=False)
    )
    one, two = f"v1.{group}", f"v2.{group}"
    crd = f"{DEFINITIONS}/kites.{group}"
    no_longer = [{"op": "replace", "path": "/spec/versions/1/served", "value": False}]
    return Scenario(
        name="aggregation/definitions",
        requests=(
            *define(document, f"/apis/{group}/v1/kites", f"/apis/{group}/v2/kites"),
            _registered("one", one),
            _registered("two", two),
            _delete("one-deleted", one),
            _registered("one-again", one),
            _merge("one-changed", one, {"spec": {"versionPriority": 9}}),
            _registered("one-as-before", one, _has_priority(100)),
            Request(
                name="two-no-longer",
                method="PATCH",
                path=crd,
                body=no_longer,
                headers={"Content-Type": JSON_PATCH},
            ),
            _registered("two-gone", two, is_missing),
            _merge("one-let-go", one, {"metadata": {"labels": {MANAGED: None}}}),
            Request(name="undefined", method="DELETE", path=crd),
            _get("no-kites", f"/apis/{group}/v1/kites", until=is_missing),
            _registered("one-kept", one),
            _get("group-kept", f"/apis/{group}"),
            _delete("one-deleted-at-last", one),
            _get("group-gone", f"/apis/{group}", until=is_missing),
        ),
    )


def _api_service(group: str, managed: str = "", **spec: Json) -> Json:
    labels = {"labels": {MANAGED: managed}} if managed else {}
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"v1.{group}", **labels},
        "spec": {
            "group": group,
            "version": "v1",
            "groupPriorityMinimum": 1000,
            "versionPriority": 15,
            **spec,
        },
    }


def _served_by(name: str) -> Mapping[str, Json]:
    service = {"namespace": "default", "name": name}
    return {"service": service, "insecureSkipTLSVerify": True}


def _by_hand() -> Scenario:
    """An APIService with the label of managed ones, for a group that does not exist."""
    mine, lasting, bare = (f"{each}.byhand.example.com" for each in ("mine", "lasting", "bare"))
    return Scenario(
        name="aggregation/by-hand",
        requests=(
            _create("mine", _api_service(mine, "true")),
            _registered("mine-gone", f"v1.{mine}", is_missing),
            _create("lasting", _api_service(lasting, "onstart")),
            _registered("lasting-kept", f"v1.{lasting}"),
            _create("bare", _api_service(bare)),
            _get("group", f"/apis/{bare}", until=is_found),
            _get("version", f"/apis/{bare}/v1"),
            _get("things", f"/apis/{bare}/v1/things"),
            _delete("lasting-deleted", f"v1.{lasting}"),
            _delete("bare-deleted", f"v1.{bare}"),
            _registered("bare-gone", f"v1.{bare}", is_missing),
        ),
    )


def _elsewhere() -> Scenario:
    """Requests for another server that cannot be reached."""
    group, services = "elsewhere.example.com", "/api/v1/namespaces/default/services"
    name, root = f"v1.{group}", f"/apis/{group}"
    slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
    service = {"metadata": {"name": "elsewhere"}, "spec": {"ports": [{"port": 8443, "name": "s"}]}}
    unserved = {
        "metadata": {
            "name": "elsewhere",
            "labels": {"kubernetes.io/service-name": "elsewhere"},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.1.2.3"], "conditions": {"ready": False}}],
        "ports": [{"name": "s", "port": 1}],
    }
    other_port = {"spec": {"service": {"port": 8443}}}
    return Scenario(
        name="aggregation/elsewhere",
        requests=(
            Request(name="slice", method="POST", path=slices, body=unserved),
            _create("created", _api_service(group, **_served_by("elsewhere"))),
            _registered("not-found", name, _is_said_to("ServiceNotFound")),
            _get("row", f"{API_SERVICES}/{name}", accept=TABLE),
            _get("group", root, until=is_found),
            _get("version", f"{root}/v1", until=_has_status(503)),
            _get("things", f"{root}/v1/things"),
            _get("thing", f"{root}/v1/namespaces/default/things/x"),
            _get("watch", f"{root}/v1/things?watch=1"),
            Request(name="made", method="POST", path=f"{root}/v1/things", body={"a": 1}),
            _get("other-version", f"{root}/v2"),
            _get("things-of-other-version", f"{root}/v2/things"),
            Request(name="service", method="POST", path=services, body=service),
            _registered("port-error", name, _is_said_to("ServicePortError")),
            _merge("port", name, other_port),
            _registered("not-ready", name, _is_said_to("MissingEndpoints")),
            _merge("port-back", name, {"spec": {"service": {"port": 443}}}),
            _registered("port-error-again", name, _is_said_to("ServicePortError")),
            Request(name="no-slice", method="DELETE", path=f"{slices}/elsewhere"),
            _get("slice-gone", f"{slices}/elsewhere"),
            _merge("port-again", name, other_port),
            _registered("no-endpoints", name, _is_said_to("EndpointsNotFound")),
            Request(name="no-service", method="DELETE", path=f"{services}/elsewhere"),
            _registered("not-found-again", name, _is_said_to("ServiceNotFound")),
            _merge("here", name, {"spec": {"service": None, "insecureSkipTLSVerify": None}}),
            _registered("local", name, _is_said_to("Local")),
            _get("nothing-here", f"{root}/v1/things", until=_has_status(404)),
            _delete("deleted", name),
            _get("group-gone", root, until=is_missing),
        ),
    )


def _hidden() -> Scenario:
    """A group that a definition serves, and that a client then delegates to another server."""
    group = "hidden.example.com"
    document = definition(group, "secrets", "Secret", version("v1", an_object({})))
    name, things = f"v1.{group}", f"/apis/{group}/v1/namespaces/default/secrets"
    change = {"metadata": {"labels": {MANAGED: None}}, "spec": _served_by("missing")}
    return Scenario(
        name="aggregation/hidden",
        requests=(
            *define(document, things),
            _registered("registered", name),
            _merge("left-to-others", name, change),
            _get("unavailable", things, until=_has_status(503)),
            _get("group", f"/apis/{group}"),
            _delete("not-left-to-others", name),
            _registered("registered-again", name),
            _get("available", things, until=is_found),
            Request(name="undefined", method="DELETE", path=f"{DEFINITIONS}/secrets.{group}"),
        ),
    )


def _components() -> Scenario:
    """The components are read one by one, because lists have a random order."""
    one = f"{COMPONENTS}?fieldSelector=metadata.name%3Detcd-0"
    queries = {
        "limit": "limit=1",
        "version": "resourceVersion=5",
        "exact": "resourceVersion=5&resourceVersionMatch=Exact",
        "odd-version": "resourceVersion=x",
        "continue": "continue=x",
        "no-label": "labelSelector=!a",
    }
    refused = {
        "label": "labelSelector=a%3Db",
        "namespace": "fieldSelector=metadata.namespace%3Dx",
        "odd-field": "fieldSelector=x%3Dy",
        "odd-label": "labelSelector=a+b",
        "watch": "watch=1&timeoutSeconds=1",
    }
    body = {"apiVersion": "v1", "kind": "ComponentStatus", "metadata": {"name": "x"}}
    return Scenario(
        name="aggregation/components",
        requests=(
            *(
                _get(f"{name}-{form}", f"{COMPONENTS}/{name}", accept=accept)
                for name in ("etcd-0", "scheduler", "controller-manager", "missing")
                for form, accept in (("whole", ""), ("row", TABLE), ("metadata", METADATA))
            ),
            _get("yaml", one, accept="application/yaml"),
            _get("table", one, accept=TABLE),
            _get("metadata", one, accept=METADATA_LIST),
            *(_get(name, f"{one}&{query}") for name, query in queries.items()),
            *(_get(name, f"{COMPONENTS}?{query}") for name, query in refused.items()),
            _get("old-version", f"{COMPONENTS}/etcd-0?resourceVersion=5"),
            _get("old-watch", "/api/v1/watch/componentstatuses"),
            _get("in-namespace", "/api/v1/namespaces/default/componentstatuses"),
            Request(name="create", method="POST", path=COMPONENTS, body=body),
            Request(name="update", method="PUT", path=f"{COMPONENTS}/x", body=body),
            Request(name="delete", method="DELETE", path=f"{COMPONENTS}/etcd-0"),
            Request(name="delete-all", method="DELETE", path=COMPONENTS),
            Request(
                name="patch",
                method="PATCH",
                path=f"{COMPONENTS}/etcd-0",
                body={},
                headers={"Content-Type": MERGE_PATCH},
            ),
        ),
    )


def _condition(kind: str, **more: Json) -> Json:
    return {"type": kind, "status": "True", "reason": "NormalizedResponse", **more}


def _with(*conditions: Json, **more: Json) -> Json:
    return {"status": {"conditions": list(conditions), **more}}


def _pem(content: str, kind: str = "CERTIFICATE") -> str:
    block = f"-----BEGIN {kind}-----\n{content}\n-----END {kind}-----\n"
    return b64encode(block.encode()).decode()


def _approvals(at: Place) -> Scenario:
    """Conditions, whose times the server sets if a client omits them."""
    undated, denied = map(_condition, ("Approved", "Denied"))
    # A condition without a time differs when it is sent again a second later.
    approved, failed = (_condition(each, lastUpdateTime=TIME) for each in ("Approved", "Failed"))
    custom = _condition("example.com/seen", message="yes", lastUpdateTime=TIME)
    pem = _pem(CERTIFICATE)
    by_approval: Mapping[str, Json] = {
        "spec": {**_with(undated), "spec": {"signerName": "example.com/other"}},
        "again": _with(approved),
        "status-too": _with(approved, certificate=pem),
        "both": _with(approved, denied),
        "other": _with(denied),
        "nothing": _with(),
        "custom": _with(approved, custom),
        "custom-false": _with(approved, {**custom, "status": "False"}),
        "failed-too": _with(approved, failed),
        "denied-false": _with(approved, {**failed, "status": "False"}),
        "empty-type": _with(approved, _condition("")),
        "no-status": _with(approved, {"type": "x"}),
        "twice": _with(approved, approved),
        "null": {"status": None},
    }
    by_status: Mapping[str, Json] = {
        "approved-gone": _with(custom),
        "denied-added": _with(approved, denied),
        "approved-reworded": _with({**approved, "reason": "Other"}, custom),
        "custom-kept": _with(approved, custom),
        "custom-unknown": _with(approved, {**custom, "status": "Unknown"}),
        "malformed": _with(approved, custom, failed, certificate=_pem("aaaa")),
        "empty-block": _with(approved, custom, failed, certificate=_pem("")),
        "other-block": _with(approved, custom, failed, certificate=_pem(CERTIFICATE, "KEY")),
        "no-block": _with(approved, custom, failed, certificate="aaaa"),
        "cut-off": _with(approved, custom, failed, certificate=_pem(CERTIFICATE[:80])),
        "header": _with(approved, custom, failed, certificate=_pem(f"a: b\n\n{CERTIFICATE}")),
        "signed": _with(approved, custom, failed, certificate=pem),
        "signed-otherwise": _with(approved, custom, failed, certificate=_pem(f"\n{CERTIFICATE}")),
        "malformed-otherwise": _with(approved, custom, failed, certificate=_pem("aaaa")),
        "unsigned": _with(approved, custom, failed, certificate=None),
        "labels": {"metadata": {"labels": {"a": "b"}}, "status": {}},
    }
    return at.scenario(
        at.create("one", at.object("one")),
        at.create("two", at.object("two", {"status.conditions": [approved]})),
        at.patch("two-by-status", "two", _with(approved), sub="status"),
        at.patch("two-denied", "two", _with(denied), sub="approval"),
        at.patch("two-by-main", "two", _with(approved)),
        *(
            at.patch(f"approval-{name}", "one", body, sub="approval")
            for name, body in by_approval.items()
        ),
        *(
            at.patch(f"status-{name}", "one", body, sub="status")
            for name, body in by_status.items()
        ),
        at.get("got-approval", "one", sub="approval"),
        at.get("got", "one"),
    )


def _measured(at: Place) -> Scenario:
    """The status of an autoscaler, in two versions."""
    root = at.path("one")
    other_version = {"v1": "v2", "v2": "v1"}[at.kind.api_version.rpartition("/")[2]]
    other = root.replace(at.kind.root, f"/apis/autoscaling/{other_version}")
    percent = {
        "status": {
            "currentReplicas": 1,
            "desiredReplicas": 2,
            "currentCPUUtilizationPercentage": 3,
        }
    }
    resource = {"name": "cpu", "current": {"averageUtilization": 3, "averageValue": "4"}}
    metrics = {
        "status": {
            "currentReplicas": 1,
            "desiredReplicas": 2,
            "currentMetrics": [{"type": "Resource", "resource": resource}],
        }
    }
    mine, theirs = (percent, metrics) if other_version == "v2" else (metrics, percent)

    def elsewhere(name: str, body: Json) -> Request:
        headers = {"Content-Type": MERGE_PATCH}
        return Request(
            name=name, method="PATCH", path=f"{other}/status", body=body, headers=headers
        )

    return at.scenario(
        at.create("one", at.object("one")),
        at.patch("measured", "one", mine, sub="status"),
        _get("seen-elsewhere", other),
        at.patch("replicas", "one", {"status": {"currentReplicas": 5}}, sub="status"),
        elsewhere("measured-elsewhere", theirs),
        elsewhere("replicas-elsewhere", {"status": {"desiredReplicas": 7}}),
        at.get("seen", "one"),
        at.patch("labelled", "one", {"metadata": {"labels": {"a": "b"}}}),
        at.patch("forgotten", "one", {"status": dict.fromkeys(mine["status"])}, sub="status"),
    )


def _scale_forms(at: Place) -> Scenario:
    forms = {
        "table": TABLE,
        "old-table": TABLE.replace("v=v1", "v=v1beta1"),
        "yaml-table": TABLE.replace("json", "yaml"),
        "metadata": METADATA,
        "metadata-list": METADATA_LIST,
        "old-metadata-list": METADATA_LIST.replace("v=v1", "v=v1beta1"),
        "yaml-metadata-list": METADATA_LIST.replace("json", "yaml"),
        "metadata-list-or-json": f"{METADATA_LIST},application/json",
    }
    four = {"spec": {"replicas": 4}}
    written = (
        Request(
            name=f"patched-{name}",
            method="PATCH",
            path=at.path("first", sub="scale"),
            body=four,
            headers={"Content-Type": MERGE_PATCH, "Accept": accept},
        )
        for name, accept in forms.items()
    )
    return at.scenario(
        at.create("first", at.object("first")),
        *(
            at.get(f"got-{name}", "first", sub="scale", headers={"Accept": accept})
            for name, accept in forms.items()
        ),
        *written,
    )
