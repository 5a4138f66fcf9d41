"""The validation of a write request by policies: which match, and which validations fail."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from steersman.names import GroupResource, GroupVersionKind
from steersman_cluster.apiserver.admission.attributes import AdmissionAttributes
from steersman_cluster.apiserver.admission.evaluation import Budget, OutOfBudget, Variables, outcome
from steersman_cluster.apiserver.admission.match_conditions import ConditionFailed
from steersman_cluster.apiserver.admission.matcher import MatchedResource
from steersman_cluster.apiserver.admission.policies import EXCLUDED, Binding, Policy, Validation
from steersman_cluster.apiserver.admission.variables import values_of
from steersman_cluster.apiserver.admission.webhook_dispatcher import ObjectVersions
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.request.selectors import label_selector

# The cost limit of a policy for one request.
POLICY_BUDGET = 10_000_000
MAX_MESSAGE_LENGTH = 5 * 1024

_NAMESPACES = GroupResource("", "namespaces")
_CODES = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}
_NOT_A_NAMESPACE = GroupVersionKind("", "v1", "Namespace")


class Misconfigured(Exception):
    """A policy or a binding cannot be applied because of its configuration."""


class Parameters(Protocol):
    """A protocol for the source of the parameter objects of policies."""

    def scope_of(self, kind: Mapping[str, str]) -> bool | None:
        """Whether objects of ``kind`` are namespaced; None if the kind does not exist."""
        ...

    def every(self, kind: Mapping[str, str], namespace: str) -> Iterable[Object]:
        """Return all objects of ``kind``, sorted as in a list request.

        If ``namespace`` is not empty, returns only the objects in that namespace.
        """
        ...


class PolicyViolation(NamedTuple):
    """A validation that a write request fails."""

    policy: Policy
    binding: Binding | None
    message: str
    reason: str = "Invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyValidator:
    """A validator of one write request against policies."""

    versions: ObjectVersions
    parameters: Parameters
    warnings: list[str]

    def check(self, attributes: AdmissionAttributes, policies: Sequence[Policy]) -> None:
        """Raise an error if a policy denies the request.

        Adds a warning for each failed validation whose binding has the action ``Warn``.
        """
        if (attributes.resource.group, attributes.resource.resource) in EXCLUDED:
            return
        objections = [each for policy in policies for each in self._objections(attributes, policy)]
        if objections:
            raise _denied(attributes, objections[0])

    def _objections(
        self, attributes: AdmissionAttributes, policy: Policy
    ) -> Iterable[PolicyViolation]:
        try:
            matched = self._match(attributes, policy)
        except (Misconfigured, StatusError) as problem:
            return _misconfigured(policy, None, problem)
        if matched is None:
            return []
        found: list[PolicyViolation] = []
        for binding in policy.bindings:
            try:
                found += self._bound(attributes, matched, policy, binding)
            except (Misconfigured, StatusError) as problem:
                found += _misconfigured(policy, binding, problem)
        return found

    def _match(self, attributes: AdmissionAttributes, policy: Policy) -> MatchedResource | None:
        if policy.matching is None:
            raise Misconfigured("policy contained no match constraints, a required field")
        matched = policy.matching.match(attributes, self.versions)
        kind = policy.param_kind
        if matched is not None and kind is not None and self.parameters.scope_of(kind) is None:
            raise Misconfigured(f"failed to find resource referenced by paramKind: '{_go(kind)}'")
        return matched

    def _bound(
        self,
        attributes: AdmissionAttributes,
        matched: MatchedResource,
        policy: Policy,
        binding: Binding,
    ) -> Iterable[PolicyViolation]:
        if (
            binding.matching is not None
            and binding.matching.match(attributes, self.versions) is None
        ):
            return []
        denied: list[PolicyViolation] = []
        for params in self._params(attributes, policy, binding):
            for message, reason in self._failures(attributes, matched, policy, params):
                if "Deny" in binding.actions:
                    denied.append(PolicyViolation(policy, binding, message, reason))
                if "Warn" in binding.actions:
                    self.warnings.append(
                        f"Validation failed for ValidatingAdmissionPolicy '{policy.name}'"
                        f" with binding '{binding.name}': {message}"
                    )
        return denied

    def _params(
        self, attributes: AdmissionAttributes, policy: Policy, binding: Binding
    ) -> Iterable[Object | None]:
        kind, ref = policy.param_kind, binding.param_ref
        if kind is None or ref is None:
            return [None]
        namespace = ref.get("namespace") or ""
        if self.parameters.scope_of(kind):
            namespace = namespace or attributes.namespace
            if not namespace:
                raise Misconfigured(
                    "cannot use namespaced paramRef in policy binding that matches cluster-scoped"
                    " resources"
                )
        elif namespace:
            raise Misconfigured(
                "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
            )
        everything = self.parameters.every(kind, namespace)
        if name := ref.get("name"):
            found = [each for each in everything if each["metadata"]["name"] == name]
        else:
            selected = label_selector(ref.get("selector") or {})
            found = [
                each
                for each in everything
                if selected.matches(each["metadata"].get("labels") or {})
            ]
        if not found and ref.get("parameterNotFoundAction") == "Deny":
            raise Misconfigured(
                "no params found for policy binding with `Deny` parameterNotFoundAction"
            )
        head = {"apiVersion": kind["apiVersion"], "kind": kind["kind"]}
        return [{**each, **head} for each in found]

    def _failures(
        self,
        attributes: AdmissionAttributes,
        matched: MatchedResource,
        policy: Policy,
        params: Object | None,
    ) -> Iterable[tuple[str, str]]:
        """Return the message and the reason of each failed validation."""
        seen = self.versions.converted(attributes, matched)
        values = dict(
            values_of(
                attributes,
                seen,
                matched,
                authorizers=self.versions.authorizer,
                namespace=self._namespace(attributes),
                params=params,
            )
        )
        budget = Budget(POLICY_BUDGET)
        values["variables"] = Variables(policy.variables, values, budget)
        try:
            if policy.conditions and not policy.conditions.all_match(values):
                return []
            return self._judged(policy, values, budget)
        except (ConditionFailed, OutOfBudget) as problem:
            return [] if policy.ignores_failure else [(str(problem), "Invalid")]

    def _judged(
        self, policy: Policy, values: Mapping[str, Any], budget: Budget
    ) -> Iterable[tuple[str, str]]:
        failures: list[tuple[str, str]] = []
        outcomes = [outcome(each.expression, values, budget) for each in policy.validations]
        for validation, (value, problem) in zip(policy.validations, outcomes, strict=True):
            if problem:
                if not policy.ignores_failure:
                    failures.append((problem, "Invalid"))
            elif value is not True:
                failures.append((_message(validation, values, budget), validation.reason))
        for each in policy.annotations:
            _, problem = outcome(each, values, budget)
            if problem and not policy.ignores_failure:
                failures.append((problem, "Invalid"))
        return failures

    def _namespace(self, attributes: AdmissionAttributes) -> Object | None:
        if not attributes.namespace or attributes.kind == _NOT_A_NAMESPACE:
            return None
        found = self.versions.find(_NAMESPACES, "", attributes.namespace)
        if found is None:
            return None
        about = {
            name: value
            for name, value in found["metadata"].items()
            if name not in ("managedFields", "ownerReferences")
        }
        return {**found, "metadata": about}


def _message(validation: Validation, values: Mapping[str, Any], budget: Budget) -> str:
    message = ""
    if validation.message_expression is not None:
        value, problem = outcome(validation.message_expression, values, budget)
        if not problem and isinstance(value, str):
            message = value.strip()
        if len(message.encode()) > MAX_MESSAGE_LENGTH or "\n" in message:
            message = ""
    return message or validation.message.strip() or f"failed expression: {validation.text.strip()}"


def _misconfigured(
    policy: Policy, binding: Binding | None, problem: Misconfigured | StatusError
) -> Iterable[PolicyViolation]:
    if policy.ignores_failure:
        return []
    what = "policy" if binding is None else "binding"
    why = problem.message if isinstance(problem, StatusError) else str(problem)
    return [PolicyViolation(policy, binding, f"failed to configure {what}: {why}")]


def _denied(attributes: AdmissionAttributes, objection: PolicyViolation) -> StatusError:
    who = f"ValidatingAdmissionPolicy '{objection.policy.name}'"
    if objection.binding is not None:
        who += f" with binding '{objection.binding.name}'"
    message = f"{who} denied request: {objection.message}"
    error = attributes.forbidden(message)
    return StatusError(
        _CODES.get(objection.reason, 422),
        objection.reason,
        error.message,
        details={**(error.details or {}), "causes": [{"message": message}]},
    )


def _go(kind: Mapping[str, str]) -> str:
    group, _, version = kind.get("apiVersion", "").rpartition("/")
    return f"{group}/{version}, Kind={kind.get('kind', '')}"
