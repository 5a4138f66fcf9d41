"""Webhook configurations and admission policies."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.cluster.admission_rules import (
    MUTATING_BINDING_RULES,
    VALIDATING_BINDING_RULES,
    WEBHOOKS,
    policy_errors,
)
from steersman_cluster.apiserver.builtin.common_defaults import fill
from steersman_cluster.apiserver.meta.name_validation import subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy


def _default_webhooks(**more: Any) -> Callable[[Object], None]:
    def default(configuration: Object) -> None:
        for webhook in configuration.get("webhooks", ()):
            _default_matching(webhook)
            fill(webhook, failurePolicy="Fail", timeoutSeconds=10, **more)
            _default_scopes(webhook.get("rules", ()))
            if service := webhook.get("clientConfig", {}).get("service"):
                fill(service, port=443)

    return default


def _default_policy(policy: Object) -> None:
    spec = policy.setdefault("spec", {})
    fill(spec, failurePolicy="Fail")
    _default_constraints(spec.get("matchConstraints"))


def _default_binding(binding: Object) -> None:
    _default_constraints(binding.get("spec", {}).get("matchResources"))


def _default_constraints(constraints: Object | None) -> None:
    if constraints is not None:
        _default_matching(constraints)
        for field in ("resourceRules", "excludeResourceRules"):
            _default_scopes(constraints.get(field, ()))


def _default_matching(matching: Object) -> None:
    fill(matching, matchPolicy="Equivalent", namespaceSelector={}, objectSelector={})


def _default_scopes(rules: list[Object]) -> None:
    for each in rules:
        fill(each, scope="*")


VALIDATING_WEBHOOKS = Strategy(
    default=_default_webhooks(),
    validate=WEBHOOKS,
    name_errors=subdomain_name,
    generation_fields=("webhooks",),
    allow_unconditional_update=False,
)
MUTATING_WEBHOOKS = Strategy(
    default=_default_webhooks(reinvocationPolicy="Never"),
    validate=WEBHOOKS,
    name_errors=subdomain_name,
    generation_fields=("webhooks",),
    allow_unconditional_update=False,
)
VALIDATING_POLICY = Strategy(
    default=_default_policy,
    validate=policy_errors,
    name_errors=subdomain_name,
    generation_fields=("spec",),
    has_status=True,
    allow_unconditional_update=False,
)
MUTATING_POLICY = Strategy(
    default=_default_policy,
    validate=rule.table(
        rule.required("spec.matchConstraints"),
        rule.required("spec.mutations", detail="mutations must contain at least one item"),
        rule.required("spec.reinvocationPolicy"),
    ),
    name_errors=subdomain_name,
    generation_fields=("spec",),
    allow_unconditional_update=False,
)
MUTATING_BINDING = Strategy(
    default=_default_binding,
    validate=MUTATING_BINDING_RULES,
    name_errors=subdomain_name,
    generation_fields=("spec",),
    allow_unconditional_update=False,
)
VALIDATING_BINDING = replace(MUTATING_BINDING, validate=VALIDATING_BINDING_RULES)
