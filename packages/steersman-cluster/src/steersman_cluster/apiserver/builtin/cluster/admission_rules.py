"""Validation of webhook configurations, admission policies and their bindings."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from steersman_cluster.apiserver.builtin.cluster.admission_expressions import (
    Compiled,
    compiled,
    declared,
    variables_of,
    with_variables,
)
from steersman_cluster.apiserver.builtin.label_selectors import selector_errors
from steersman_cluster.apiserver.cel import CelType, Expression, NotCompiled
from steersman_cluster.apiserver.cel.cel_types import NULL, STRING
from steersman_cluster.apiserver.cel.field_selection import RESERVED
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_many,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_1035_label,
    dns_subdomain,
    label_key,
    path_segment,
    subdomain_name,
)
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.webhooks.client_config import REVIEWS, client_errors, review_errors

MAX_CONDITIONS: Final = 64
MAX_ANNOTATIONS: Final = 20
MAX_ANNOTATION_BYTES: Final = 5 * 1024
MAX_TIMEOUT_SECONDS: Final = 30

_FAILURE_POLICIES: Final = ("Fail", "Ignore")
_MATCH_POLICIES: Final = ("Equivalent", "Exact")
_SIDE_EFFECTS: Final = ("None", "NoneOnDryRun")
_REINVOCATIONS: Final = ("IfNeeded", "Never")
_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES: Final = ("*", "Cluster", "Namespaced")
_REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_ACTIONS: Final = ("Audit", "Deny", "Warn")
_NOT_FOUND: Final = ("Deny", "Allow")
_IDENTIFIER: Final = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")


def webhook_errors(configuration: Object) -> list[FieldError]:
    """Return the errors in a MutatingWebhookConfiguration or ValidatingWebhookConfiguration."""
    seen: set[str] = set()
    errors: list[FieldError] = []
    for index, webhook in enumerate(configuration.get("webhooks") or ()):
        path = f"webhooks[{index}]"
        errors += _webhook_errors(webhook, path)
        why = f"must specify one of {', '.join(REVIEWS)}"
        versions = webhook.get("admissionReviewVersions") or []
        errors += review_errors(versions, f"{path}.admissionReviewVersions", why=why)
        if (name := webhook.get("name", "")) in seen:
            errors.append(duplicate(f"{path}.name", name))
        elif name:
            seen.add(name)
    return errors


def _webhook_errors(webhook: Object, path: str) -> Iterator[FieldError]:
    yield from _full_name_errors(webhook.get("name", ""), f"{path}.name")
    for index, rule in enumerate(webhook.get("rules") or ()):
        yield from _rule_errors(rule, f"{path}.rules[{index}]")
    yield from _choice_errors(webhook, path, "failurePolicy", _FAILURE_POLICIES)
    yield from _choice_errors(webhook, path, "matchPolicy", _MATCH_POLICIES)
    if webhook.get("sideEffects") is None:
        yield required(f"{path}.sideEffects", f"must specify one of {', '.join(_SIDE_EFFECTS)}")
    yield from _choice_errors(webhook, path, "sideEffects", _SIDE_EFFECTS)
    seconds = webhook.get("timeoutSeconds")
    if seconds is not None and not 1 <= seconds <= MAX_TIMEOUT_SECONDS:
        why = f"the timeout value must be between 1 and {MAX_TIMEOUT_SECONDS} seconds"
        yield invalid(f"{path}.timeoutSeconds", seconds, why)
    for name in ("namespaceSelector", "objectSelector"):
        yield from selector_errors(webhook.get(name), f"{path}.{name}")
    yield from _choice_errors(webhook, path, "reinvocationPolicy", _REINVOCATIONS)
    yield from client_errors(webhook.get("clientConfig") or {}, f"{path}.clientConfig")
    yield from _condition_errors(webhook, path, declared(params=False))


def _full_name_errors(name: str, path: str) -> Iterator[FieldError]:
    if not name:
        yield required(path)
    elif wrong := dns_subdomain(name):
        yield invalid(path, name, ",".join(wrong))
    elif name.count(".") < 2:
        why = "should be a domain with at least three segments separated by dots"
        yield invalid(path, name, why)


def _choice_errors(
    written: Mapping[str, Any], path: str, name: str, choices: Sequence[str]
) -> Iterator[FieldError]:
    given = written.get(name)
    if given is not None and given not in choices:
        yield not_supported(f"{path}.{name}", given, choices)


def _rule_errors(rule: Object, path: str) -> Iterator[FieldError]:
    operations = rule.get("operations") or []
    if not operations:
        yield required(f"{path}.operations")
    if len(operations) > 1 and "*" in operations:
        why = "if '*' is present, must not specify other operations"
        yield invalid(f"{path}.operations", operations, why)
    for index, each in enumerate(operations):
        if each not in _OPERATIONS:
            yield not_supported(f"{path}.operations[{index}]", each, _OPERATIONS)
    for name, called in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        given = rule.get(name) or []
        if not given:
            yield required(f"{path}.{name}")
        if len(given) > 1 and "*" in given:
            why = f"if '*' is present, must not specify other {called}"
            yield invalid(f"{path}.{name}", given, why)
        for index, each in enumerate(given):
            if not each and name == "apiVersions":
                yield required(f"{path}.{name}[{index}]")
    yield from _resource_errors(rule.get("resources") or [], f"{path}.resources")
    yield from _choice_errors(rule, path, "scope", _SCOPES)


def _resource_errors(resources: list[str], path: str) -> Iterator[FieldError]:
    if not resources:
        yield required(path)
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


def _expression_errors(found: Compiled, text: str, path: str) -> Iterator[FieldError]:
    if isinstance(found, NotCompiled):
        yield invalid(path, text, str(found))


def policy_errors(policy: Object) -> list[FieldError]:
    """Return the errors in a ValidatingAdmissionPolicy."""
    return list(_policy_errors(policy["spec"], policy["metadata"].get("name", "")))


def _policy_errors(spec: Object, name: str) -> Iterator[FieldError]:
    yield from _choice_errors(spec, "spec", "failurePolicy", _FAILURE_POLICIES)
    params = spec.get("paramKind")
    if params is not None:
        yield from _kind_errors(params, "spec.paramKind")
    constraints = spec.get("matchConstraints")
    if constraints is None:
        yield required("spec.matchConstraints")
    else:
        yield from _match_errors(constraints, "spec.matchConstraints")
        if not constraints.get("resourceRules"):
            yield required("spec.matchConstraints.resourceRules")
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


def _match_errors(matching: Object, path: str) -> Iterator[FieldError]:
    yield from _choice_errors(matching, path, "matchPolicy", _MATCH_POLICIES)
    for name in ("namespaceSelector", "objectSelector"):
        yield from selector_errors(matching.get(name), f"{path}.{name}")
    for name in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(matching.get(name) or ()):
            at = f"{path}.{name}[{index}]"
            seen: set[str] = set()
            for number, each in enumerate(rule.get("resourceNames") or ()):
                yield from all_invalid(f"{at}.resourceNames[{number}]", each, path_segment(each))
                if each in seen:
                    yield duplicate(f"{at}.resourceNames[{number}]", each)
                seen.add(each)
            yield from _rule_errors(rule, at)


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
    yield from _choice_errors(validation, path, "reason", _REASONS)


def _annotation_errors(
    spec: Object, name: str, variables: Mapping[str, CelType]
) -> Iterator[FieldError]:
    annotations = spec.get("auditAnnotations") or []
    if len(annotations) > MAX_ANNOTATIONS:
        why = f"must not have more than {MAX_ANNOTATIONS} auditAnnotations"
        yield invalid("spec.auditAnnotations", annotations, why)
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


def binding_errors(*, actions: bool) -> Callable[[Object], list[FieldError]]:
    """Return a function that validates the bindings of admission policies.

    ``actions``: whether a binding must have validationActions.
    """

    def errors(binding: Object) -> list[FieldError]:
        return list(_binding_errors(binding.get("spec") or {}, actions=actions))

    return errors


def _binding_errors(spec: Object, *, actions: bool) -> Iterator[FieldError]:
    if not (policy := spec.get("policyName") or ""):
        yield required("spec.policyName")
    else:
        yield from all_invalid("spec.policyName", policy, subdomain_name(policy, False))
    if (ref := spec.get("paramRef")) is not None:
        yield from _ref_errors(ref, "spec.paramRef")
    if (matching := spec.get("matchResources")) is not None:
        yield from _match_errors(matching, "spec.matchResources")
    if actions:
        yield from _action_errors(spec.get("validationActions") or [], "spec.validationActions")


def _ref_errors(ref: Object, path: str) -> Iterator[FieldError]:
    name, selector = ref.get("name") or "", ref.get("selector")
    exclusive = "name and selector are mutually exclusive"
    if name:
        yield from all_invalid(f"{path}.name", name, path_segment(name))
        if selector is not None:
            yield forbidden(f"{path}.name", exclusive)
    if selector is not None:
        yield from selector_errors(selector, f"{path}.selector")
        if name:
            yield forbidden(f"{path}.selector", exclusive)
    if not name and selector is None:
        yield required(path, "one of name or selector must be specified")
    if not (action := ref.get("parameterNotFoundAction") or ""):
        yield required(f"{path}.parameterNotFoundAction")
    elif action not in _NOT_FOUND:
        yield not_supported(f"{path}.parameterNotFoundAction", action, _NOT_FOUND)


def _action_errors(actions: Sequence[str], path: str) -> Iterable[FieldError]:
    seen: set[str] = set()
    for index, each in enumerate(actions):
        if each not in _ACTIONS:
            yield not_supported(f"{path}[{index}]", each, _ACTIONS)
        if each in seen:
            yield duplicate(f"{path}[{index}]", each)
        seen.add(each)
    if {"Deny", "Warn"} <= seen:
        why = (
            "must not contain both Deny and Warn (repeating the same validation failure information"
            " in the API response and headers serves no purpose)"
        )
        yield invalid(path, list(actions), why)
    if not seen:
        yield required(path, "at least one validation action is required")
