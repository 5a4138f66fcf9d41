"""Validating admission policies and match conditions work as on the real server."""

from typing import Any

import pytest

from steersman_cluster.testing import ControlPlane
from tests.real.webhook_comparison import (
    MERGE,
    REGISTRATION,
    Scenario,
    Stage,
    embedded,
    run_on,
)
from tests.recorded.module_recording import ModuleRecording

__all__ = ["embedded"]


def config_map(policy: str, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": "a", "labels": {"policy": policy}}, "data": data}


def validations_of_policies(stage: Stage) -> None:
    maps = f"{stage.namespace_path}/configmaps?dryRun=All"
    least = {"expression": "object.data.size() > 1", "message": "  too few  "}
    stage.policy("plain", validations=[{"expression": "has(object.data)"}, least])
    stage.policy(
        "reason",
        validations=[
            {
                "expression": "object.data.size() > 1",
                "messageExpression": "'only ' + string(object.data.size())",
                "reason": "Forbidden",
            }
        ],
    )
    stage.policy("error", validations=[{"expression": "object.data.nothing == 'x'"}])
    stage.policy(
        "ignored",
        validations=[{"expression": "object.data.nothing == 'x'"}],
        failurePolicy="Ignore",
    )
    stage.policy(
        "warned",
        [{"validationActions": ["Warn", "Audit"]}],
        validations=[{"expression": "false", "message": "only a warning"}, least],
    )
    stage.policy(
        "condition",
        validations=[{"expression": "false"}],
        matchConditions=[
            {"name": "other", "expression": "object.data.size() < 2"},
            {"name": "may", "expression": "authorizer.path('/x').check('get').allowed()"},
        ],
    )
    stage.policy(
        "failing",
        validations=[{"expression": "false"}],
        matchConditions=[{"name": "fails", "expression": "object.data.nothing == 'x'"}],
    )
    stage.policy(
        "variables",
        variables=[
            {"name": "size", "expression": "object.data.size()"},
            {"name": "double", "expression": "variables.size * 2"},
            {"name": "broken", "expression": "object.data.nothing"},
        ],
        validations=[
            {"expression": "variables.double > 2", "messageExpression": "string(variables.size)"},
            {"expression": "variables.broken == 'x'"},
        ],
    )
    stage.policy(
        "namespace",
        validations=[
            {
                "expression": "namespaceObject.metadata.name == 'x'",
                "messageExpression": "'in ' + namespaceObject.metadata.name",
            }
        ],
    )
    stage.policy(
        "request",
        validations=[
            {
                "expression": "request.operation == 'DELETE'",
                "messageExpression": (
                    "request.operation + request.resource.resource + request.userInfo.username"
                ),
            }
        ],
    )
    stage.policy("lines", validations=[{"expression": "false", "messageExpression": "'one\\ntwo'"}])
    stage.policy(
        "annotated",
        auditAnnotations=[{"key": "k", "valueExpression": "string(object.data.nothing)"}],
    )
    stage.wait_for_policies()

    for policy in (
        "plain",
        "reason",
        "error",
        "ignored",
        "warned",
        "condition",
        "failing",
        "variables",
        "namespace",
        "request",
        "lines",
        "annotated",
    ):
        stage.step("POST", maps, config_map(policy, one="1"))
        stage.step("POST", maps, config_map(policy, one="1", two="2"))
    generated = {"metadata": {"generateName": "made-up-", "labels": {"policy": "plain"}}}
    stage.step("POST", maps, generated)


def parameters(stage: Stage) -> None:
    maps = f"{stage.namespace_path}/configmaps"
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    validations = [{"expression": "params.data.most == object.data.most", "message": "another"}]
    for name in ("low", "high"):
        labelled = {"metadata": {"name": name, "labels": {"is": "parameter"}}}
        stage.send("POST", maps, {**labelled, "data": {"most": name}})

    def named(name: str, action: str, **more: str) -> dict[str, Any]:
        return {"paramRef": {"name": name, "parameterNotFoundAction": action, **more}}

    selector = {"matchLabels": {"is": "parameter"}}
    selected = {"paramRef": {"selector": selector, "parameterNotFoundAction": "Deny"}}
    stage.policy("one", [named("low", "Deny")], paramKind=kind, validations=validations)
    stage.policy("none", [named("no", "Deny")], paramKind=kind, validations=validations)
    stage.policy("allowed", [named("no", "Allow")], paramKind=kind, validations=validations)
    stage.policy("every", [selected], paramKind=kind, validations=validations)
    stage.policy("unbound", [{}], paramKind=kind, validations=validations)
    nodes = {"apiVersion": "v1", "kind": "Node"}
    wrong = [named("no", "Allow", namespace="default")]
    stage.policy("outside", wrong, paramKind=nodes, validations=validations)
    unknown = {"apiVersion": "example.com/v1", "kind": "Nothing"}
    stage.policy("unknown", [named("no", "Allow")], paramKind=unknown, validations=validations)
    stage.wait_for_policies()

    for policy in ("one", "none", "allowed", "every", "unbound", "outside", "unknown"):
        stage.step("POST", f"{maps}?dryRun=All", config_map(policy, most="low"))
        stage.step("POST", f"{maps}?dryRun=All", config_map(policy, most="x"))


def every_operation(stage: Stage) -> None:
    maps = f"{stage.namespace_path}/configmaps"
    stage.policy(
        "kept",
        validations=[
            {"expression": "request.operation != 'DELETE'", "message": "it stays"},
            {
                "expression": (
                    "oldObject == null || object == null || object.data == oldObject.data"
                ),
                "message": "it stays as it is",
            },
        ],
    )
    other = {"matchResources": {"objectSelector": {"matchLabels": {"other": "label"}}}}
    stage.policy("elsewhere", [other], validations=[{"expression": "false"}])
    stage.wait_for_policies()

    stage.step("POST", maps, config_map("kept", a="b"))
    stage.step("PATCH", f"{maps}/a", {"data": {"a": "c"}}, sends=MERGE)
    stage.step("PATCH", f"{maps}/a", {"metadata": {"labels": {"x": "y"}}}, sends=MERGE)
    stage.step("DELETE", f"{maps}/a")
    stage.step("DELETE", maps)
    stage.step("POST", f"{maps}?dryRun=All", config_map("elsewhere", a="b"))


def match_conditions_of_webhooks(stage: Stage) -> None:
    def condition(expression: str) -> dict[str, Any]:
        return {"matchConditions": [{"name": "it", "expression": expression}]}

    maps = f"{stage.namespace_path}/configmaps"
    fails = condition("object.data.nothing == 'x'")
    stage.configure(
        "mutating",
        stage.webhook("held", **condition("object.data.size() == 1")),
        stage.webhook("ignored", **fails, failurePolicy="Ignore"),
        stage.webhook("user", **condition("request.userInfo.username == 'other'")),
        stage.webhook(
            "may",
            **condition("authorizer.requestResource.check('create').allowed()"),
        ),
    )
    stage.step("POST", f"{maps}?dryRun=All", config_map("", one="1"))
    stage.step("POST", f"{maps}?dryRun=All", config_map("", one="1", two="2"))
    several = [*fails["matchConditions"], {"name": "no", "expression": "object.data.size() == 7"}]
    stage.configure("validating", stage.webhook("no", matchConditions=several), name="no")
    stage.step("POST", f"{maps}?dryRun=All", config_map("", one="1"))
    stage.configure("validating", stage.webhook("fails", **fails), name="fails")
    stage.step("POST", f"{maps}?dryRun=All", config_map("", one="1"))


def bad_policies(stage: Stage) -> None:
    policies = f"{REGISTRATION}/validatingadmissionpolicies?dryRun=All"
    rule = {
        "operations": ["CREATE"],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["configmaps"],
    }
    constraints = {"matchConstraints": {"resourceRules": [rule]}}

    def try_to_create(**spec: Any) -> None:
        body = {"metadata": {"name": "bad"}, "spec": {**constraints, **spec}}
        stage.step("POST", policies, body)

    try_to_create()
    try_to_create(validations=[{}])
    try_to_create(validations=[{"expression": "  "}])
    try_to_create(validations=[{"expression": "1 +"}])
    try_to_create(validations=[{"expression": "'text'"}])
    try_to_create(validations=[{"expression": "nothing"}])
    try_to_create(validations=[{"expression": "true", "reason": "Because"}])
    try_to_create(validations=[{"expression": "true", "message": " "}])
    try_to_create(validations=[{"expression": "true", "message": "two\nlines"}])
    try_to_create(validations=[{"expression": "true\n", "message": ""}])
    try_to_create(validations=[{"expression": "true\n&& true"}])
    try_to_create(validations=[{"expression": "true", "messageExpression": "1"}])
    try_to_create(validations=[{"expression": "true", "messageExpression": "authorizer == null"}])
    try_to_create(validations=[{"expression": "params.x == 1"}])
    try_to_create(validations=[{"expression": "true"}], paramKind={"kind": "X"})
    try_to_create(
        validations=[{"expression": "true"}], paramKind={"apiVersion": "a/b/c", "kind": "X"}
    )
    try_to_create(
        validations=[{"expression": "true"}], paramKind={"apiVersion": "A_/v1", "kind": "_"}
    )
    try_to_create(validations=[{"expression": "true"}], failurePolicy="Perhaps")
    try_to_create(validations=[{"expression": "true"}], matchConstraints={"resourceRules": []})
    try_to_create(validations=[{"expression": "true"}], matchConstraints={"resourceRules": [{}]})
    try_to_create(
        validations=[{"expression": "true"}],
        matchConstraints={"resourceRules": [rule], "matchPolicy": "Perhaps"},
    )
    try_to_create(
        validations=[{"expression": "variables.b"}],
        variables=[
            {"name": "a", "expression": "variables.b"},
            {"name": "a", "expression": "1"},
            {"name": "b b", "expression": "true"},
            {"name": "", "expression": ""},
        ],
    )
    try_to_create(
        validations=[{"expression": "true"}],
        matchConditions=[
            {"name": "", "expression": ""},
            {"name": "a b", "expression": "1"},
            {"name": "a", "expression": "true"},
            {"name": "a", "expression": "true"},
        ],
    )
    try_to_create(auditAnnotations=[{"key": "", "valueExpression": ""}])
    try_to_create(auditAnnotations=[{"key": "a b", "valueExpression": "1"}])
    try_to_create(
        auditAnnotations=[
            {"key": "a", "valueExpression": "'x'"},
            {"key": "a", "valueExpression": "null"},
        ]
    )


def bad_bindings(stage: Stage) -> None:
    bindings = f"{REGISTRATION}/validatingadmissionpolicybindings?dryRun=All"

    def try_to_create(**spec: Any) -> None:
        stage.step("POST", bindings, {"metadata": {"name": "bad"}, "spec": spec})

    try_to_create()
    try_to_create(policyName="a b", validationActions=["Deny"])
    try_to_create(policyName="a", validationActions=["Perhaps"])
    try_to_create(policyName="a", validationActions=["Deny", "Warn"])
    try_to_create(policyName="a", validationActions=["Audit", "Audit"])
    try_to_create(policyName="a", validationActions=["Deny"], paramRef={})
    try_to_create(policyName="a", validationActions=["Deny"], paramRef={"name": "a b"})
    try_to_create(
        policyName="a",
        validationActions=["Deny"],
        paramRef={"name": "a", "selector": {}, "parameterNotFoundAction": "Perhaps"},
    )
    try_to_create(
        policyName="a",
        validationActions=["Deny"],
        matchResources={"resourceRules": [{"operations": ["CONJURE"]}]},
    )
    try_to_create(
        policyName="a",
        validationActions=["Deny"],
        matchResources={"namespaceSelector": {"matchExpressions": [{"key": "a b"}]}},
    )


SCENARIOS: tuple[Scenario, ...] = (
    validations_of_policies,
    parameters,
    every_operation,
    match_conditions_of_webhooks,
    bad_policies,
    bad_bindings,
)


@pytest.mark.parametrize(
    ("number", "scenario"),
    [*enumerate(SCENARIOS, 1)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_policies_respond_as_on_the_real_server(
    number: int, scenario: Scenario, real: ModuleRecording, embedded: ControlPlane
) -> None:
    expected = real.value(lambda plane: run_on(plane, scenario, number=number))
    steps = run_on(embedded, scenario, number=number)

    for step, wanted in zip(steps, expected, strict=True):
        assert step == wanted
