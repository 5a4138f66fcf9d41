from typing import Any

import pytest

from steersman_cluster.apiserver.builtin.cluster.admission_rules import (
    VALIDATING_BINDING_RULES,
    WEBHOOKS,
    policy_errors,
)
from tests.outbounds import webhook

RULE = webhook("")["rules"][0]
CONSTRAINTS = {"resourceRules": [RULE]}


def problems(errors: Any) -> list[tuple[str, str]]:
    return [(each.field, each.body) for each in errors]


def of_webhook(**changes: Any) -> list[tuple[str, str]]:
    return problems(WEBHOOKS({"webhooks": [{**webhook("a"), **changes}]}))


def of_policy(**spec: Any) -> list[tuple[str, str]]:
    policy = {"metadata": {"name": "a"}, "spec": {"matchConstraints": CONSTRAINTS, **spec}}
    return problems(policy_errors(policy))


def of_binding(**spec: Any) -> list[tuple[str, str]]:
    usual = {"policyName": "a", "validationActions": ["Deny"]}
    return problems(VALIDATING_BINDING_RULES({"spec": {**usual, **spec}}))


def test_valid_admission_configurations_have_no_errors() -> None:
    assert of_webhook() == []
    assert of_policy(validations=[{"expression": "true"}]) == []
    assert of_binding() == []


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"name": ""}, ("name", "Required value")),
        (
            {"name": "a.b"},
            (
                "name",
                'Invalid value: "a.b": should be a domain with at least three segments separated'
                " by dots",
            ),
        ),
        (
            {"sideEffects": "Some"},
            (
                "sideEffects",
                'Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
            ),
        ),
        (
            {"timeoutSeconds": 31},
            (
                "timeoutSeconds",
                "Invalid value: 31: the timeout value must be between 1 and 30 seconds",
            ),
        ),
        (
            {"admissionReviewVersions": []},
            ("admissionReviewVersions", "Required value: must specify one of v1, v1beta1"),
        ),
        (
            {"clientConfig": {}},
            ("clientConfig", "Required value: exactly one of url or service is required"),
        ),
        (
            {"clientConfig": {"url": "https://a/?b=c"}},
            (
                "clientConfig.url",
                'Invalid value: "b=c": query parameters are not permitted in the URL',
            ),
        ),
        (
            {"rules": [{**RULE, "operations": ["*", "CREATE"]}]},
            (
                "rules[0].operations",
                'Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify other'
                " operations",
            ),
        ),
        (
            {"rules": [{**RULE, "resources": ["pods/*", "pods/log"]}]},
            (
                "rules[0].resources[1]",
                "Invalid value: \"pods/log\": if 'pods/*' is present, must not specify pods/log",
            ),
        ),
        (
            {"matchConditions": [{"name": "a", "expression": "params.x"}]},
            (
                "matchConditions[0].expression",
                'Invalid value: "params.x": compilation failed: ERROR: <input>:1:1: undeclared'
                " reference to 'params' (in container '')\n | params.x\n | ^",
            ),
        ),
    ],
)
def test_an_invalid_webhook_is_rejected_with_the_invalid_field(
    changes: Any, wrong: tuple[str, str]
) -> None:
    field, body = wrong

    assert of_webhook(**changes) == [(f"webhooks[0].{field}", body)]


def test_the_webhooks_of_a_configuration_have_unique_names() -> None:
    twice = {"webhooks": [webhook("a"), webhook("a")]}

    assert problems(WEBHOOKS(twice)) == [("webhooks[1].name", 'Duplicate value: "a.example.com"')]


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        (
            {"validations": [{"expression": "'text'"}]},
            (
                "spec.validations[0].expression",
                "Invalid value: \"'text'\": must evaluate to bool but got string",
            ),
        ),
        (
            {"validations": [{"expression": "true", "message": "one\ntwo"}]},
            (
                "spec.validations[0].message",
                'Invalid value: "one\\ntwo": must not contain line breaks',
            ),
        ),
        (
            {"validations": [{"expression": "true"}], "paramKind": {"kind": "X"}},
            ("spec.paramKind.apiVersion", "Required value"),
        ),
        (
            {"auditAnnotations": [{"key": "a", "valueExpression": "1"}]},
            (
                "spec.auditAnnotations[0].valueExpression",
                'Invalid value: "1": must evaluate to one of [string null_type] but got int',
            ),
        ),
        (
            {
                "variables": [{"name": "a b", "expression": "1"}],
                "validations": [{"expression": "true"}],
            },
            ("spec.variables[0].name", 'Invalid value: "a b": must be a valid CEL identifier'),
        ),
    ],
)
def test_an_invalid_policy_is_rejected_with_the_invalid_field(spec: Any, wrong: Any) -> None:
    assert of_policy(**spec) == [wrong]


def test_an_expression_can_use_the_variables_before_it() -> None:
    variables = [
        {"name": "a", "expression": "1"},
        {"name": "b", "expression": "variables.a + 1"},
        {"name": "c", "expression": "variables.d"},
    ]

    wrong = of_policy(variables=variables, validations=[{"expression": "variables.b == 2"}])

    assert [field for field, _ in wrong] == ["spec.variables[2].expression"]


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ({"policyName": ""}, ["spec.policyName"]),
        ({"validationActions": ["Deny", "Warn"]}, ["spec.validationActions"]),
        ({"validationActions": ["Audit", "Audit"]}, ["spec.validationActions[1]"]),
        (
            {"paramRef": {}},
            ["spec.paramRef", "spec.paramRef.parameterNotFoundAction"],
        ),
        (
            {"paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Deny"}},
            ["spec.paramRef.name", "spec.paramRef.selector"],
        ),
    ],
)
def test_an_invalid_binding_is_rejected_with_the_invalid_fields(
    spec: Any, fields: list[str]
) -> None:
    assert [field for field, _ in of_binding(**spec)] == fields
