"""Webhooks and admission policies of an in-process server."""

from typing import Any

import pytest

from steersman_cluster.apiserver import Key, ServerOptions, WebhookUnreachable
from steersman_cluster.apiserver.meta.strategy import Strategy
from tests.embedded import MERGE_PATCH, EmbeddedServer, config_map
from tests.outbounds import Webhooks, allow, patch, webhook

REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
MAPS = "/api/v1/namespaces/default/configmaps"


async def configure(api: EmbeddedServer, kind: str, *webhooks: Any, name: str = "some") -> None:
    body = {"metadata": {"name": name}, "webhooks": webhooks}
    await api.asked("POST", f"{REGISTRATION}/{kind}webhookconfigurations", body)


def add(name: str) -> Any:
    """Adds a key to ``data`` whose value lists the earlier keys."""

    def script(review: Any) -> Any:
        there = ",".join(review["request"]["object"]["data"])
        return patch({"op": "add", "path": f"/data/{name}", "value": there})(review)

    return script


async def test_a_server_without_webhooks_makes_no_calls() -> None:
    webhooks = Webhooks()
    api = EmbeddedServer(outbound=webhooks)

    await api.asked("POST", MAPS, config_map("a", x="y"))
    await api.asked("DELETE", f"{MAPS}/a")

    assert webhooks.received == []


async def test_each_webhook_receives_the_changes_of_the_earlier_webhooks() -> None:
    api = EmbeddedServer(outbound=Webhooks(one=add("one"), two=add("two")))
    await configure(api, "mutating", webhook("two"), name="late")
    await configure(api, "mutating", webhook("one"), name="early")

    made = await api.asked("POST", MAPS, config_map("a", x="y"))

    assert made["data"] == {"x": "y", "one": "x", "two": "x,one"}


async def test_a_change_by_a_webhook_reinvokes_the_earlier_webhooks_with_policy_ifneeded() -> None:
    webhooks = Webhooks(one=add("one"), two=add("two"), three=allow)
    api = EmbeddedServer(outbound=webhooks)
    await configure(
        api,
        "mutating",
        webhook("one", reinvocationPolicy="IfNeeded"),
        webhook("two"),
        webhook("three", reinvocationPolicy="IfNeeded"),
    )

    made = await api.asked("POST", MAPS, config_map("a", x="y"))

    assert webhooks.names == ["one", "two", "three", "one", "three"]
    assert made["data"]["one"] == "x,one,two"


async def test_a_webhook_with_side_effects_is_never_called_for_a_dry_run() -> None:
    webhooks = Webhooks(some=allow)
    api = EmbeddedServer(outbound=webhooks)
    await configure(api, "validating", webhook("some"))
    # The server rejects such a configuration now, but an older server may have stored one.
    path = f"{REGISTRATION}/validatingwebhookconfigurations/some"
    stored = await api.asked("GET", path)
    stored["webhooks"][0]["sideEffects"] = "Some"
    key = Key("validatingwebhookconfigurations.admissionregistration.k8s.io", "some")
    api.server.store.write(key, stored, strategy=Strategy(), replacing=api.log.latest(key))

    response = await api.ask("POST", f"{MAPS}?dryRun=All", config_map("a"))

    assert webhooks.received == []
    assert response.status == 400
    assert response.json["message"] == (
        'admission webhook "some.example.com" does not support dry run'
    )


async def test_a_failing_webhook_rejects_the_write_unless_its_failure_policy_is_ignore() -> None:
    api = EmbeddedServer(
        outbound=Webhooks(lost=WebhookUnreachable("EOF"), ignored=WebhookUnreachable("EOF"))
    )
    await configure(api, "validating", webhook("ignored", failurePolicy="Ignore"))
    allowed = await api.ask("POST", MAPS, config_map("a"))
    await configure(api, "validating", webhook("lost"), name="other")

    refused = await api.ask("POST", MAPS, config_map("b"))

    assert allowed.status == 201
    assert refused.status == 500
    assert refused.json["message"] == (
        'Internal error occurred: failed calling webhook "lost.example.com": failed to call'
        ' webhook: Post "https://webhooks.example.com/lost?timeout=10s": EOF'
    )


async def test_the_configurations_of_webhooks_and_policies_are_exempt_from_admission() -> None:
    webhooks = Webhooks(all=lambda _: {"allowed": False})
    api = EmbeddedServer(outbound=webhooks)
    everything = [
        {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
    ]
    await configure(api, "validating", webhook("all", rules=everything))

    await configure(api, "mutating", webhook("all", rules=everything), name="other")
    spec = {
        "matchConstraints": {"resourceRules": everything},
        "validations": [{"expression": "false"}],
    }
    body = {"metadata": {"name": "none"}, "spec": spec}
    await api.asked("POST", f"{REGISTRATION}/validatingadmissionpolicies", body)
    binding = {"policyName": "none", "validationActions": ["Deny"]}
    body = {"metadata": {"name": "none"}, "spec": binding}
    await api.asked("POST", f"{REGISTRATION}/validatingadmissionpolicybindings", body)
    await api.asked("DELETE", f"{REGISTRATION}/validatingadmissionpolicybindings/none")

    assert webhooks.received == []


async def test_a_webhook_is_called_again_after_a_conflicting_write() -> None:
    webhooks = Webhooks(some=allow)
    api = EmbeddedServer(outbound=webhooks)
    await api.asked("POST", MAPS, config_map("a", x="1"))
    await configure(api, "validating", webhook("some"))
    other = {"data": {"theirs": "2"}}
    webhooks.meanwhile.append(lambda: api.asked("PATCH", f"{MAPS}/a", other, sends=MERGE_PATCH))

    made = await api.asked("PATCH", f"{MAPS}/a", {"data": {"ours": "3"}}, sends=MERGE_PATCH)

    assert made["data"] == {"x": "1", "theirs": "2", "ours": "3"}
    seen = [request["object"]["data"] for _, request in webhooks.received]
    assert seen == [{"x": "1", "ours": "3"}, {"x": "1", "theirs": "2"}, made["data"]]


async def test_the_object_that_a_slow_webhook_reviewed_is_the_one_that_is_written() -> None:
    webhooks = Webhooks(some=allow)
    api = EmbeddedServer(outbound=webhooks)
    await configure(api, "validating", webhook("some"))

    async def an_hour_passes() -> None:
        api.clock.advance(3600)

    webhooks.meanwhile.append(an_hour_passes)
    made = await api.asked("POST", MAPS, {"metadata": {"generateName": "a-"}})

    (_, request), *again = webhooks.received
    assert again == []
    for name in ("name", "uid", "creationTimestamp"):
        assert made["metadata"][name] == request["object"]["metadata"][name]


async def test_nothing_is_written_during_a_webhook_call() -> None:
    webhooks = Webhooks(some=lambda _: {"allowed": False})
    api = EmbeddedServer(outbound=webhooks)
    await api.asked("POST", MAPS, config_map("a"))
    await configure(api, "mutating", webhook("some"))
    before = api.log.revision

    for method, path, body in (
        ("POST", MAPS, config_map("b")),
        ("PUT", f"{MAPS}/a", config_map("a", x="y")),
        ("DELETE", f"{MAPS}/a", None),
        ("DELETE", MAPS, None),
    ):
        response = await api.ask(method, path, body)
        assert response.status == 400

    assert api.log.revision == before


async def test_every_deletion_of_a_collection_is_reviewed_before_the_first_deletion() -> None:
    def deny_c(review: Any) -> Any:
        return {"allowed": review["request"]["oldObject"]["metadata"]["name"] != "c"}

    webhooks = Webhooks(validate=deny_c)
    api = EmbeddedServer(outbound=webhooks)
    for name in ("a", "b", "c", "d"):
        await api.asked("POST", MAPS, config_map(name))
    await configure(api, "validating", webhook("validate"))
    before = (await api.ask("GET", MAPS)).names
    seen: list[list[str]] = []

    async def look() -> None:
        seen.append((await api.ask("GET", MAPS)).names)

    webhooks.meanwhile += [look] * len(before)
    response = await api.ask("DELETE", MAPS)

    assert response.status == 400
    assert seen == [before] * len(before)
    assert (await api.ask("GET", MAPS)).names[:2] == ["c", "d"]


async def test_a_webhook_service_resolves_to_its_endpoints() -> None:
    found: list[tuple[str, str]] = []

    class Noting(Webhooks):
        async def post(self, url: str, body: bytes, **more: Any) -> Any:
            found.append((more["server_name"], more["connect_to"]))
            return await super().post(url, body, **more)

    api = EmbeddedServer(outbound=Noting(way=allow))
    services = "/api/v1/namespaces/default/services"
    port = {"port": 443, "targetPort": 9443, "name": "https"}
    await api.asked("POST", services, {"metadata": {"name": "hook"}, "spec": {"ports": [port]}})
    client = {"service": {"name": "hook", "namespace": "default", "path": "/way"}}
    await configure(api, "validating", webhook("way", clientConfig=client))
    refused = await api.ask("POST", MAPS, config_map("a"))
    endpoints = {
        "metadata": {"name": "hook-1", "labels": {"kubernetes.io/service-name": "hook"}},
        "addressType": "IPv4",
        "ports": [{"name": "https", "port": 9443}],
        "endpoints": [{"addresses": ["192.0.2.7"]}],
    }
    slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
    await api.asked("POST", slices, endpoints)

    await api.asked("POST", MAPS, config_map("a"))

    assert refused.json["message"].endswith('no endpoints available for service "hook"')
    assert found == [("hook.default.svc", "192.0.2.7:9443")]


async def policy(api: EmbeddedServer, name: str, binding: Any = None, **spec: Any) -> None:
    constraints = {"resourceRules": webhook("")["rules"]}
    body = {"metadata": {"name": name}, "spec": {"matchConstraints": constraints, **spec}}
    await api.asked("POST", f"{REGISTRATION}/validatingadmissionpolicies", body)
    bound = {"policyName": name, "validationActions": ["Deny"], **(binding or {})}
    body = {"metadata": {"name": name}, "spec": bound}
    await api.asked("POST", f"{REGISTRATION}/validatingadmissionpolicybindings", body)


async def test_a_policy_denies_an_object_that_violates_it() -> None:
    api = EmbeddedServer()
    few = {"expression": "object.data.size() < 2", "message": "too much", "reason": "Forbidden"}
    await policy(api, "few", validations=[few])

    allowed = await api.ask("POST", MAPS, config_map("a", x="1"))
    denied = await api.ask("POST", MAPS, config_map("b", x="1", y="2"))

    assert (allowed.status, denied.status) == (201, 403)
    assert denied.json["message"] == (
        "configmaps \"b\" is forbidden: ValidatingAdmissionPolicy 'few' with binding 'few' denied"
        " request: too much"
    )


async def test_a_policy_that_only_warns_allows_the_request() -> None:
    api = EmbeddedServer()
    actions = {"validationActions": ["Warn"]}
    await policy(api, "few", actions, validations=[{"expression": "object.data.size() < 2"}])

    response = await api.ask("POST", MAPS, config_map("b", x="1", y="2"))

    assert response.status == 201
    assert response.warnings == [
        "Validation failed for ValidatingAdmissionPolicy 'few' with binding 'few':"
        " failed expression: object.data.size() < 2"
    ]


async def test_a_policy_is_evaluated_with_its_parameters() -> None:
    api = EmbeddedServer()
    await api.asked("POST", MAPS, config_map("limit", most="1"))
    ref = {"name": "limit", "namespace": "default", "parameterNotFoundAction": "Deny"}
    await policy(
        api,
        "few",
        {"paramRef": ref},
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        variables=[{"name": "most", "expression": "int(params.data.most)"}],
        validations=[{"expression": "object.data.size() <= variables.most"}],
    )

    before = await api.ask("POST", MAPS, config_map("a", x="1", y="2"))
    await api.asked("PATCH", f"{MAPS}/limit", {"data": {"most": "2"}}, sends=MERGE_PATCH)
    after = await api.ask("POST", MAPS, config_map("a", x="1", y="2"))
    await api.asked("DELETE", f"{REGISTRATION}/validatingadmissionpolicybindings/few")
    unbound = await api.ask("POST", MAPS, config_map("b", x="1", y="2", z="3"))

    assert [each.status for each in (before, after, unbound)] == [422, 201, 201]


async def test_a_deletion_timestamp_is_the_time_of_the_request() -> None:
    webhooks = Webhooks(some=allow)
    api = EmbeddedServer(outbound=webhooks)
    rules = [{**webhook("")["rules"][0], "resources": ["namespaces"]}]
    await configure(api, "validating", webhook("some", rules=rules))
    name = await api.namespace()
    api.clock.advance(3600)

    gone = await api.asked("DELETE", f"/api/v1/namespaces/{name}")

    created, deleted = (
        gone["metadata"][each] for each in ("creationTimestamp", "deletionTimestamp")
    )
    assert created != deleted


@pytest.mark.parametrize(
    ("plugins", "asked", "status"),
    [
        ({"MutatingAdmissionWebhook"}, ["change"], 201),
        ({"ValidatingAdmissionWebhook"}, ["validate"], 201),
        ({"ValidatingAdmissionPolicy"}, [], 422),
        ({"MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"}, ["change", "validate"], 201),
    ],
)
async def test_a_disabled_admission_plugin_sends_no_request(
    plugins: set[str], asked: list[str], status: int
) -> None:
    webhooks = Webhooks(change=allow, validate=allow)
    api = EmbeddedServer(
        outbound=webhooks, options=ServerOptions(admission_plugins=frozenset(plugins))
    )
    await configure(api, "mutating", webhook("change"))
    await configure(api, "validating", webhook("validate"))
    await policy(api, "none", validations=[{"expression": "false"}])

    response = await api.ask("POST", MAPS, config_map("a"))

    assert webhooks.names == asked
    assert response.status == status


async def test_an_invalid_stored_configuration_fails_only_matching_requests() -> None:
    api = EmbeddedServer(outbound=Webhooks())
    bad = webhook("bad", objectSelector={"matchExpressions": [{"key": "a", "operator": "Like"}]})
    odd = {"rules": webhook("")["rules"], "failurePolicy": "Fail"}
    about = {"name": "odd", "uid": "1"}
    kinds = "validatingwebhookconfigurations"
    stored = {
        "kind": "ValidatingWebhookConfiguration",
        "apiVersion": "admissionregistration.k8s.io/v1",
        "metadata": about,
        "webhooks": [bad, odd],
    }
    key = Key(f"{kinds}.admissionregistration.k8s.io", "odd")
    api.server.store.write(key, stored, strategy=Strategy(), replacing=None)

    refused = await api.ask("POST", MAPS, config_map("a"))
    await api.asked("POST", "/api/v1/namespaces", {"metadata": {"name": "b"}})
    await api.asked("DELETE", f"{REGISTRATION}/{kinds}/odd")
    allowed = await api.ask("POST", MAPS, config_map("a"))

    assert (refused.status, allowed.status) == (500, 201)


async def test_a_token_has_the_default_duration_if_a_webhook_removes_it() -> None:
    remove = patch({"op": "remove", "path": "/spec/expirationSeconds"})
    api = EmbeddedServer(outbound=Webhooks(some=remove))
    rules = [{**webhook("")["rules"][0], "resources": ["serviceaccounts/token"]}]
    await configure(api, "mutating", webhook("some", rules=rules))
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    await api.asked("POST", accounts, {"metadata": {"name": "one"}})

    token = await api.asked("POST", f"{accounts}/one/token", {"spec": {"expirationSeconds": 900}})

    assert token["spec"]["expirationSeconds"] == 3600


async def test_managed_fields_that_a_webhook_corrupts_do_not_break_later_writes() -> None:
    path = "/metadata/managedFields/0/fieldsV1/f:data"
    webhooks = Webhooks(some=patch({"op": "replace", "path": path, "value": None}))
    api = EmbeddedServer(outbound=webhooks)
    await configure(api, "mutating", webhook("some"))

    made = await api.asked("POST", MAPS, config_map("a", x="y"))
    webhooks.scripts["some"] = allow
    patched = await api.asked(
        "PATCH", f"{MAPS}/a", {"data": {"x": "z"}}, sends=MERGE_PATCH, user_agent="other"
    )

    assert made["metadata"]["managedFields"][0]["fieldsV1"] == {"f:data": {}}
    assert patched["data"] == {"x": "z"}
