"""Scenarios of webhooks that deny requests or fail."""

from base64 import b64encode
from typing import Any

from tests.real.webhook_comparison import MERGE, Scenario, Stage
from tests.recorded.webhook_scenarios import both_kinds, config_map, encoded
from tests.webhook_server import RawReply, deny, patch


def denials(stage: Stage) -> None:
    both_kinds(stage)
    maps = f"{stage.namespace_path}/configmaps"
    causes = [{"reason": "FieldValueInvalid", "message": "bad", "field": "data"}]
    for script in (
        deny("no way"),
        deny(),
        deny(reason="Because"),
        deny("no way", code=418, reason="Teapot", details={"causes": causes}),
        deny("later", code=429, details={"retryAfterSeconds": 3}),
        deny("no way", code=200, status="Success"),
        lambda _: {"allowed": True, "warnings": ["one", 'two "quoted"', ""]},
        lambda _: {"allowed": False, "warnings": ["one"]},
    ):
        for path in ("first", "second"):
            stage.hooks.scripts = {path: script}
            stage.step("POST", maps, config_map("a"))
            stage.send("DELETE", f"{maps}/a")
    stage.hooks.scripts = {}
    stage.send("POST", maps, config_map("a"))
    stage.hooks.scripts = {"second": deny("stays")}
    stage.step("DELETE", f"{maps}/a")
    stage.step("PATCH", f"{maps}/a", {"data": {"x": "y"}}, sends=MERGE)
    stage.hooks.scripts = {"first": deny("stays")}
    stage.step("DELETE", f"{maps}/a")
    stage.step("GET", f"{maps}/a")


def invalid_responses(stage: Stage) -> None:
    both_kinds(stage)
    maps = f"{stage.namespace_path}/configmaps?dryRun=All"

    def review(**document: Any) -> Any:
        response = {"response": {"uid": "other", "allowed": True}, **document}
        return lambda _: RawReply(body=encoded(response))

    def response_with(status: int, body: bytes = b"body", **headers: str) -> Any:
        hyphenated = {name.replace("_", "-"): value for name, value in headers.items()}
        return lambda _: RawReply(status=status, body=body, headers=hyphenated)

    kind, version = "AdmissionReview", "admission.k8s.io/v1"
    for script in (
        lambda _: {"allowed": True, "uid": "other"},
        lambda _: {"allowed": "yes"},
        lambda _: {"allowed": True, "warnings": [1]},
        lambda _: {"allowed": True, "patch": 7},
        lambda _: {"allowed": False, "status": {"details": "x"}},
        lambda _: {"allowed": False, "status": {"code": "x"}},
        lambda _: {"allowed": False, "status": {"details": {"retryAfterSeconds": "x"}}},
        review(kind=kind, apiVersion=version, response=None),
        review(kind=kind, apiVersion=version, response="yes"),
        review(kind="Pod", apiVersion="v1"),
        review(kind=kind, apiVersion="admission.k8s.io/v1beta1"),
        review(kind=kind, apiVersion="admission.k8s.io/v2"),
        lambda sent: RawReply(body=encoded({"response": {"uid": sent["request"]["uid"]}})),
        lambda _: RawReply(body=b"hello"),
        lambda _: RawReply(body=b"[]"),
        lambda _: RawReply(body=b"", headers={"content-type": "text/plain"}),
        lambda _: RawReply(hangs_up=True),
        response_with(500, b"oops\n"),
        response_with(500, b"oops " * 1000),
        response_with(500, b"{}", content_type="application/json"),
        response_with(500, encoded({"kind": "Status", "apiVersion": "v1", "message": "mine"})),
        response_with(204, b""),
        *(response_with(each) for each in (302, 400, 401, 403, 404, 405, 406, 409, 410)),
        *(response_with(each) for each in (415, 422, 429, 502, 503, 504)),
    ):
        stage.hooks.scripts = {"first": script}
        stage.step("POST", maps, config_map("a"))
    for script in (
        lambda _: {"allowed": True, "patch": "W10="},
        lambda _: {"allowed": True, "patchType": "JSONPatch"},
    ):
        stage.hooks.scripts = {"second": script}
        stage.step("POST", maps, config_map("a"))


def patches(stage: Stage) -> None:
    both_kinds(stage)
    maps = f"{stage.namespace_path}/configmaps?dryRun=All"

    def raw(content: bytes, **more: Any) -> Any:
        patch = b64encode(content).decode()
        return lambda _: {"allowed": True, "patch": patch, "patchType": "JSONPatch", **more}

    def change(op: str, path: str, value: Any = None, **more: Any) -> Any:
        fields = {} if op == "remove" else {"value": value}
        return patch({"op": op, "path": path, **fields, **more})

    for script in (
        raw(b"hello"),
        raw(b"{}"),
        raw(b"[1]"),
        raw(b"[]"),
        raw(b"null"),
        raw(b"[]", patchType="Merge"),
        raw(b'[{"op":"add"}]', patchType="Merge"),
        raw(b"[]", patchType=""),
        lambda _: {"allowed": True, "patch": "!!", "patchType": "JSONPatch"},
        lambda _: {"allowed": True, "patch": "W10="},
        lambda _: {"allowed": True, "patchType": "JSONPatch"},
        raw(b'[{"op":"remove"}]'),
        raw(b'[{"op":"foo","path":"/data"}]'),
        raw(b'[{"op":"move","path":"/data/x"}]'),
        raw(b'[{"op":"copy","from":"/nowhere/at/all","path":"/data/x"}]'),
        change("remove", "/data/nothing"),
        change("remove", "/metadata/managedFields/9"),
        change("test", "/data/x", "z"),
        change("test", "/nowhere/at/all", "z"),
        change("add", "/nowhere/at/all", "z"),
        change("add", "/metadata/managedFields/9", {}),
        change("add", "/metadata/managedFields/here", {}),
        change("replace", "", 7),
        change("replace", "/nowhere/at/all", 7),
        change("add", "/data", 7),
        change("add", "/data/x", None),
        change("add", "/unknown", 7),
        change("replace", "/kind", "Pod"),
        change("replace", "/apiVersion", "v2"),
        change("replace", "/metadata/namespace", "other"),
        change("add", "/metadata/labels", {"a b": "c"}),
        change("add", "/metadata/labels", {"a": "b"}),
        change("add", "/metadata/uid", "mine"),
        change("add", "/metadata/managedFields", [{"manager": "x"}]),
        change("remove", "/metadata/managedFields"),
    ):
        stage.hooks.scripts = {"first": script}
        stage.step("POST", maps, config_map("a", x="y"))
    stage.hooks.scripts = {}
    stage.send("POST", f"{stage.namespace_path}/configmaps", config_map("a"))
    stage.hooks.scripts = {"first": change("add", "/data", {})}
    stage.step("DELETE", f"{stage.namespace_path}/configmaps/a")


def failures_that_may_be_ignored(stage: Stage) -> None:
    unreachable_url = {"url": "https://127.0.0.1:1/none"}
    stage.configure(
        "mutating",
        stage.webhook("ignored", failurePolicy="Ignore", clientConfig=unreachable_url),
        stage.webhook("wrong", lambda _: RawReply(body=b"hello"), failurePolicy="Ignore"),
    )
    stage.configure(
        "validating",
        stage.webhook("denying", deny("all the same"), failurePolicy="Ignore"),
        stage.webhook("ignored", failurePolicy="Ignore", clientConfig=unreachable_url),
    )

    stage.step("POST", f"{stage.namespace_path}/configmaps", config_map("a"))
    stage.hooks.scripts = {}
    stage.step("POST", f"{stage.namespace_path}/configmaps", config_map("a"))


def unreachable(stage: Stage) -> None:
    service = {"name": "nowhere", "namespace": stage.namespace, "path": "/p/q"}
    ports = {"ports": [{"port": 443, "name": "https"}]}
    stage.send(
        "POST",
        f"{stage.namespace_path}/services",
        {"metadata": {"name": "existing"}, "spec": ports},
    )
    external_name = {"type": "ExternalName", "externalName": "localhost"}
    stage.send(
        "POST",
        f"{stage.namespace_path}/services",
        {"metadata": {"name": "external"}, "spec": external_name},
    )
    other_port = {**service, "name": "existing", "port": 8443}
    external = {"name": "external", "namespace": stage.namespace, "port": stage.hooks.port}
    trusted = {"caBundle": stage.hooks.ca_bundle}
    for number, client in enumerate(
        (
            {"url": "https://127.0.0.1:1/none"},
            {"url": "https://127.0.0.1:1"},
            {"url": stage.hooks.url("untrusted")},
            {"url": stage.hooks.url("garbage"), "caBundle": b64encode(b"garbage").decode()},
            {"service": service, **trusted},
            {"service": other_port, **trusted},
            {"service": external, **trusted},
        )
    ):
        rules = [
            {
                "operations": ["CREATE"],
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "resources": ["configmaps"],
            }
        ]
        selector = {"matchLabels": {"number": str(number)}}
        webhook = stage.webhook("a", clientConfig=client, rules=rules, objectSelector=selector)
        stage.configure("validating", webhook, name=f"number-{number}")
        labelled = {"metadata": {"name": "a", "labels": {"number": str(number)}}}
        stage.step("POST", f"{stage.namespace_path}/configmaps", labelled)


def too_slow(stage: Stage) -> None:
    stage.configure("validating", stage.webhook("slow", timeoutSeconds=1))
    stage.hooks.scripts["slow"] = lambda _: RawReply(hangs=True)

    stage.step("POST", f"{stage.namespace_path}/configmaps", config_map("a"))


def bad_configurations(stage: Stage) -> None:
    def try_to_create(kind: str = "validating", **changes: Any) -> None:
        webhook = {
            "name": "a.example.com",
            "clientConfig": {"url": "https://127.0.0.1:1/a"},
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **changes,
        }
        path = f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations?dryRun=All"
        stage.step("POST", path, {"metadata": {"name": "bad"}, "webhooks": [webhook, webhook]})

    rule = {
        "operations": ["CREATE"],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["configmaps"],
    }
    try_to_create()
    try_to_create(name="")
    try_to_create(name="a.b")
    try_to_create(name="A.b.c")
    try_to_create("mutating", reinvocationPolicy="Perhaps")
    try_to_create(failurePolicy="Perhaps", matchPolicy="Perhaps", sideEffects="Some")
    try_to_create("mutating", sideEffects=None, timeoutSeconds=31)
    try_to_create(timeoutSeconds=0, admissionReviewVersions=[])
    try_to_create(admissionReviewVersions=["v2", "v2", "A"])
    try_to_create(clientConfig={})
    try_to_create(clientConfig={"url": "http://user:word@host/path?query=1#part"})
    try_to_create(clientConfig={"url": "https:///path"})
    try_to_create(clientConfig={"url": "https://host:port/path"})
    try_to_create(
        clientConfig={"service": {"name": "a", "namespace": "b", "path": "p//Q", "port": 0}}
    )
    try_to_create(clientConfig={"service": {"name": "", "namespace": "", "port": 70000}})
    try_to_create(clientConfig={"service": {"name": "a", "namespace": "b"}, "url": "https://a"})
    try_to_create(rules=[{}])
    try_to_create(rules=[{**rule, "operations": ["*", "CONJURE"], "scope": "Everywhere"}])
    try_to_create(rules=[{**rule, "apiGroups": ["*", ""], "apiVersions": ["*", ""]}])
    try_to_create(
        rules=[{**rule, "resources": ["*", "pods", "", "*/*", "pods/*", "pods/log", "a/log"]}]
    )
    try_to_create(rules=[{**rule, "resources": ["*/scale", "a/scale"]}])
    try_to_create(namespaceSelector={"matchLabels": {"a b": "c d"}})
    try_to_create(objectSelector={"matchExpressions": [{"key": "a", "operator": "Like"}]})
    try_to_create(matchConditions=[{"name": "", "expression": ""}])
    try_to_create(
        matchConditions=[
            {"name": "a", "expression": "request.nothing == 1"},
            {"name": "a", "expression": "params.x"},
            {"name": "b/c/d", "expression": " 1 "},
        ]
    )


FAILURES: tuple[Scenario, ...] = (
    denials,
    invalid_responses,
    patches,
    failures_that_may_be_ignored,
    unreachable,
    too_slow,
    bad_configurations,
)
