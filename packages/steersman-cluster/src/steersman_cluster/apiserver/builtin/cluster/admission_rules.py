"""Validation of webhook configurations, admission policies and their bindings."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.cluster.admission_expressions import (
    Compiled,
    compiled,
    declared,
    variables_of,
    with_variables,
)
from steersman_cluster.apiserver.builtin.label_selectors import LABEL_SELECTOR
from steersman_cluster.apiserver.builtin.rule import Check
from steersman_cluster.apiserver.cel import CelType, Expression, NotCompiled
from steersman_cluster.apiserver.cel.cel_types import NULL, STRING
from steersman_cluster.apiserver.cel.field_selection import RESERVED
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    required,
    too_many,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_1035_label,
    dns_subdomain,
    label_key,
    path_segment,
)
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.webhooks.client_config import REVIEWS, client_errors, review_errors

MAX_CONDITIONS: Final = 64
MAX_ANNOTATIONS: Final = 20
MAX_ANNOTATION_BYTES: Final = 5 * 1024
MAX_TIMEOUT_SECONDS: Final = 30

_IDENTIFIER: Final = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")


def _full_name_errors(name: str, path: str) -> Iterator[FieldError]:
    if wrong := dns_subdomain(name):
        yield invalid(path, name, ",".join(wrong))
    elif name.count(".") < 2:
        why = "should be a domain with at least three segments separated by dots"
        yield invalid(path, name, why)


def _wildcard(what: str) -> Check:
    return rule.must(
        lambda values: len(values) <= 1 or "*" not in values,
        f"if '*' is present, must not specify other {what}",
    )


def _resource_errors(resources: list[str], path: str) -> Iterator[FieldError]:
    whole: set[str] = set()  # resources with all their subresources
    parts: set[str] = set()  # subresources of all resources
    is_plain = False
    for index, each in enumerate(resources):
        if not each:
            yield required(f"{path}[{index}]")
            continue
        resource, slash, subresource = each.partition("/")
        if not slash:
            is_plain = each != "*"
            continue
        if resource in whole:
            why = f"if '{resource}/*' is present, must not specify {each}"
            yield invalid(f"{path}[{index}]", each, why)
        if subresource in parts:
            why = f"if '*/{subresource}' is present, must not specify {each}"
            yield invalid(f"{path}[{index}]", each, why)
        if subresource == "*":
            whole.add(resource)
        if resource == "*":
            parts.add(subresource)
    if len(resources) > 1 and "*/*" in resources:
        why = "if '*/*' is present, must not specify other resources"
        yield invalid(path, resources, why)
    if "*" in resources and is_plain:
        why = "if '*' is present, must not specify other resources without subresources"
        yield invalid(path, resources, why)


_FAILURE_POLICY: Final = rule.given("failurePolicy", rule.enum("Fail", "Ignore"))
_MATCH_POLICY: Final = rule.given("matchPolicy", rule.enum("Equivalent", "Exact"))
_SELECTORS: Final = rule.table(
    rule.given("namespaceSelector", LABEL_SELECTOR), rule.given("objectSelector", LABEL_SELECTOR)
)
_RULE: Final = rule.table(
    rule.required(
        "operations",
        _wildcard("operations"),
        rule.each(rule.enum("*", "CONNECT", "CREATE", "DELETE", "UPDATE")),
    ),
    rule.required("apiGroups", _wildcard("API groups")),
    rule.required("apiVersions", _wildcard("API versions"), rule.each(rule.must_be_set())),
    rule.required("resources", rule.code(_resource_errors)),
    rule.given("scope", rule.enum("*", "Cluster", "Namespaced")),
)


def _condition_errors(
    written: Object, path: str, variables: Mapping[str, CelType]
) -> Iterator[FieldError]:
    conditions = written.get("matchConditions") or []
    path = f"{path}.matchConditions"
    if len(conditions) > MAX_CONDITIONS:
        yield too_many(path, len(conditions), MAX_CONDITIONS)
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        at = f"{path}[{index}]"
        text = (condition.get("expression") or "").strip()
        if not text:
            yield required(f"{at}.expression")
        else:
            yield from _expression_errors(compiled(text, variables), text, f"{at}.expression")
        if not (name := condition.get("name") or ""):
            yield required(f"{at}.name")
            continue
        yield from all_invalid(f"{at}.name", name, label_key(name))
        if name in seen:
            yield duplicate(f"{at}.name", name)
        seen.add(name)


def _webhook_condition_errors(webhook: Object, path: str) -> Iterator[FieldError]:
    return _condition_errors(webhook, path, declared(params=False))


def _client_errors(client: Object, path: str) -> Iterator[FieldError]:
    return client_errors(client, path)


def _review_errors(versions: list[str], path: str) -> Iterable[FieldError]:
    return review_errors(versions, path, why=f"must specify one of {', '.join(REVIEWS)}")


# The rules of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration.
WEBHOOKS: Final = rule.given(
    "webhooks",
    rule.each(
        rule.required("name", rule.code(_full_name_errors)),
        rule.given("rules", rule.each(_RULE)),
        _FAILURE_POLICY,
        _MATCH_POLICY,
        rule.needed("sideEffects", detail="must specify one of None, NoneOnDryRun"),
        rule.given("sideEffects", rule.enum("None", "NoneOnDryRun")),
        rule.given(
            "timeoutSeconds",
            rule.must(
                lambda seconds: 1 <= seconds <= MAX_TIMEOUT_SECONDS,
                f"the timeout value must be between 1 and {MAX_TIMEOUT_SECONDS} seconds",
            ),
        ),
        _SELECTORS,
        rule.given("reinvocationPolicy", rule.enum("IfNeeded", "Never")),
        rule.always("clientConfig", rule.code(_client_errors), default={}),
        rule.code(_webhook_condition_errors),
        rule.always("admissionReviewVersions", rule.code(_review_errors), default=[]),
        rule.optional("name", rule.unique()),
    ),
)


def _expression_errors(found: Compiled, text: str, path: str) -> Iterator[FieldError]:
    if isinstance(found, NotCompiled):
        yield invalid(path, text, str(found))


def policy_errors(policy: Object) -> list[FieldError]:
    """Return the errors in a ValidatingAdmissionPolicy."""
    return list(_policy_errors(policy["spec"], policy["metadata"].get("name", "")))


def _policy_errors(spec: Object, name: str) -> Iterator[FieldError]:
    yield from _POLICY(spec, "spec")
    params = spec.get("paramKind")
    yield from _condition_errors(spec, "spec", declared(params=params is not None))
    named = variables_of(spec)
    yield from _variable_errors(spec)
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        why = "validations or auditAnnotations must contain at least one item"
        yield required("spec.validations", why)
        yield required("spec.auditAnnotations", why)
        return
    common = declared(params=params is not None)
    for_messages = declared(params=params is not None, authorizer=False)
    if spec.get("variables"):
        common = with_variables(common, named)
        for_messages = with_variables(for_messages, named)
    for index, each in enumerate(spec.get("validations") or ()):
        yield from _validation_errors(each, f"spec.validations[{index}]", common, for_messages)
    yield from _annotation_errors(spec, name, common)


def _kind_errors(kind: Object, path: str) -> Iterator[FieldError]:
    api_version, name = kind.get("apiVersion") or "", kind.get("kind") or ""
    group, slash, version = api_version.partition("/")
    if not slash:
        group, version = "", api_version
    at = f"{path}.apiVersion"
    if not api_version:
        yield required(at)
    elif "/" in version:
        yield invalid(at, api_version, f"unexpected GroupVersion string: {api_version}")
    else:
        if group and (wrong := dns_subdomain(group)):
            yield invalid(at, group, ",".join(wrong))
        if not version:
            yield invalid(at, api_version, "version must be specified")
        elif wrong := dns_1035_label(version):
            yield invalid(at, version, ",".join(wrong))
    if not name:
        yield required(f"{path}.kind")
    elif wrong := dns_1035_label(name.lower()):
        why = f"may have mixed case, but should otherwise match: {','.join(wrong)}"
        yield invalid(f"{path}.kind", name, why)


_RESOURCE_RULES: Final = rule.each(
    rule.given("resourceNames", rule.each(path_segment, rule.unique())), _RULE
)
_MATCH: Final = rule.table(
    _MATCH_POLICY,
    _SELECTORS,
    rule.given("resourceRules", _RESOURCE_RULES),
    rule.given("excludeResourceRules", _RESOURCE_RULES),
)
_POLICY: Final = rule.table(
    _FAILURE_POLICY,
    rule.given("paramKind", rule.code(_kind_errors)),
    rule.needed("matchConstraints", _MATCH, rule.required("resourceRules")),
)
_REASON: Final = rule.given("reason", rule.enum("Forbidden", "Invalid", "RequestEntityTooLarge"))


def _variable_errors(spec: Object) -> Iterator[FieldError]:
    variables = spec.get("variables") or ()
    for index, each in enumerate(variables):
        path = f"spec.variables[{index}]"
        name, text = each.get("name") or "", each.get("expression") or ""
        if not name.strip():
            yield required(f"{path}.name", "name is not specified")
        elif _IDENTIFIER.fullmatch(name) is None or name in RESERVED:
            yield invalid(f"{path}.name", name, "must be a valid CEL identifier")
        if not text.strip():
            yield required(f"{path}.expression", "expression is not specified")
            continue
        # A variable may use those before it, even one with the same name.
        known = variables_of({**spec, "variables": variables[:index]})
        common = declared(params=spec.get("paramKind") is not None)
        found = compiled(text, with_variables(common, known), result=None)
        yield from _expression_errors(found, text, f"{path}.expression")


def _validation_errors(
    validation: Object,
    path: str,
    variables: Mapping[str, CelType],
    message_variables: Mapping[str, CelType],
) -> Iterator[FieldError]:
    text, message = validation.get("expression") or "", validation.get("message") or ""
    if not text.strip():
        yield required(f"{path}.expression", "expression is not specified")
    else:
        yield from _expression_errors(compiled(text, variables), text, f"{path}.expression")
    if expression := validation.get("messageExpression") or "":
        at = f"{path}.messageExpression"
        if not expression.strip():
            yield invalid(at, expression, "must be non-empty if specified")
        else:
            found = compiled(expression, message_variables, result=str)
            yield from _expression_errors(found, expression, at)
    if message and not message.strip():
        yield invalid(f"{path}.message", message, "must be non-empty if specified")
    elif "\n" in message.strip() or "\r" in message.strip():
        yield invalid(f"{path}.message", message, "must not contain line breaks")
    yield from _REASON(validation, path)


def _annotation_errors(
    spec: Object, name: str, variables: Mapping[str, CelType]
) -> Iterator[FieldError]:
    annotations = spec.get("auditAnnotations") or []
    if len(annotations) > MAX_ANNOTATIONS:
        why = f"must not have more than {MAX_ANNOTATIONS} auditAnnotations"
        shown = [
            {"Key": each.get("key", ""), "ValueExpression": each.get("valueExpression", "")}
            for each in annotations
        ]
        yield invalid("spec.auditAnnotations", shown, why)
    seen: set[str] = set()
    for index, each in enumerate(annotations):
        path = f"spec.auditAnnotations[{index}]"
        key = each.get("key") or ""
        yield from all_invalid(f"{path}.key", f"{name}/{key}", label_key(f"{name}/{key}"))
        yield from _annotation_value_errors(each.get("valueExpression") or "", path, variables)
        if key in seen:
            yield duplicate(f"{path}.key", key)
        seen.add(key)


def _annotation_value_errors(
    text: str, path: str, variables: Mapping[str, CelType]
) -> Iterator[FieldError]:
    path = f"{path}.valueExpression"
    if not text.strip():
        yield required(path, "valueExpression is not specified")
    elif len(text.strip().encode()) > MAX_ANNOTATION_BYTES:
        yield required(path, f"must not exceed {MAX_ANNOTATION_BYTES} bytes in length")
    else:
        found = compiled(text.strip(), variables, result=None)
        yield from _expression_errors(found, text, path)
        if isinstance(found, Expression) and found.result not in (STRING, NULL):
            why = f"must evaluate to one of [string null_type] but got {found.result}"
            yield invalid(path, text, why)


def _parameter_errors(reference: Object, path: str) -> Iterator[FieldError]:
    name, selector = reference.get("name") or "", reference.get("selector")
    exclusive = "name and selector are mutually exclusive"
    yield from _PARAMETER_NAME(reference, path)
    if name and selector is not None:
        yield forbidden(f"{path}.name", exclusive)
    if selector is not None:
        yield from LABEL_SELECTOR(selector, f"{path}.selector")
        if name:
            yield forbidden(f"{path}.selector", exclusive)
    if not name and selector is None:
        yield required(path, "one of name or selector must be specified")


_PARAMETER_NAME: Final = rule.optional("name", path_segment)
_BINDING: Final = rule.table(
    rule.required("policyName", dns_subdomain),
    rule.given(
        "paramRef",
        rule.code(_parameter_errors),
        rule.required("parameterNotFoundAction", rule.enum("Deny", "Allow")),
    ),
    rule.given("matchResources", _MATCH),
)
_ACTIONS: Final = rule.always(
    "validationActions",
    rule.each(rule.enum("Audit", "Deny", "Warn"), rule.unique()),
    rule.must(
        lambda actions: not {"Deny", "Warn"} <= set(actions),
        "must not contain both Deny and Warn (repeating the same validation failure information"
        " in the API response and headers serves no purpose)",
    ),
    rule.must_be_set("at least one validation action is required"),
    default=[],
)
MUTATING_BINDING_RULES: Final = rule.always("spec", _BINDING, default={})
VALIDATING_BINDING_RULES: Final = rule.always("spec", _BINDING, _ACTIONS, default={})
