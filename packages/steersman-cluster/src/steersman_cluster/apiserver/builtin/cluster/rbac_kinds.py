"""Validation of roles and bindings; ``authz`` evaluates them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.common_defaults import fill_empty
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.label_selectors import LABEL_SELECTOR
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    path_segment,
    path_segment_name,
    subdomain_name,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy

RBAC = "rbac.authorization.k8s.io"


def _default_binding(binding: Object) -> None:
    fill_empty(binding.setdefault("roleRef", {}), apiGroup=RBAC)
    for subject in binding.get("subjects", ()):
        if subject.get("kind") in ("User", "Group"):
            fill_empty(subject, apiGroup=RBAC)


def _selector_errors(selector: Object, path: str) -> Iterator[FieldError]:
    if wrong := LABEL_SELECTOR(selector, path):
        yield from wrong
        yield invalid(path, None, "invalid label selector.")


_VERBS: Final = rule.required("verbs", detail="verbs must contain at least one value")
_ONLY_URLS: Final = rule.when(
    lambda policy: any(policy.get(each) for each in ("apiGroups", "resources", "resourceNames")),
    rule.given(
        "nonResourceURLs",
        rule.must_be_absent("rules cannot apply to both regular resources and non-resource URLs"),
    ),
)
_RESOURCES: Final = rule.table(
    rule.required("apiGroups", detail="resource rules must supply at least one api group"),
    rule.required("resources", detail="resource rules must supply at least one resource"),
)
_ROLE: Final = rule.given(
    "rules",
    rule.each(
        _VERBS,
        rule.when(
            lambda policy: policy.get("nonResourceURLs"),
            rule.given(
                "nonResourceURLs",
                rule.must_be_absent("namespaced rules cannot apply to non-resource URLs"),
            ),
            _ONLY_URLS,
            otherwise=[_RESOURCES],
        ),
    ),
)
_CLUSTER_ROLE: Final = rule.table(
    rule.given(
        "rules",
        rule.each(
            _VERBS,
            rule.when(
                lambda policy: policy.get("nonResourceURLs"), _ONLY_URLS, otherwise=[_RESOURCES]
            ),
        ),
    ),
    rule.given(
        "aggregationRule",
        rule.required(
            "clusterRoleSelectors",
            rule.each(rule.code(_selector_errors)),
            detail="at least one clusterRoleSelector required if aggregationRule is non-nil",
        ),
    ),
)


def _binding_errors(
    kinds: Sequence[str], *, namespaced: bool
) -> Callable[[Object], list[FieldError]]:
    def errors(binding: Object) -> list[FieldError]:
        found = [*_reference_errors(binding["roleRef"], kinds)]
        for index, subject in enumerate(binding.get("subjects") or ()):
            found += _subject_errors(subject, f"subjects[{index}]", namespaced=namespaced)
        return found

    return errors


def _reference_errors(reference: Object, kinds: Sequence[str]) -> Iterator[FieldError]:
    kind, name = reference.get("kind", ""), reference.get("name", "")
    if reference["apiGroup"] != RBAC:
        yield not_supported("roleRef.apiGroup", reference["apiGroup"], (RBAC,))
    if kind not in kinds:
        yield not_supported("roleRef.kind", kind, kinds)
    if not name:
        yield required("roleRef.name")
    yield from all_invalid("roleRef.name", name, path_segment(name))


def _subject_errors(subject: Object, path: str, *, namespaced: bool) -> Iterator[FieldError]:
    kind, name = subject.get("kind", ""), subject.get("name", "")
    group = subject.get("apiGroup", "")
    if not name:
        yield required(f"{path}.name")
    if kind == "ServiceAccount":
        if name:
            yield from all_invalid(f"{path}.name", name, subdomain_name(name, False))
        if group:
            yield not_supported(f"{path}.apiGroup", group, ("",))
        if not namespaced and not subject.get("namespace"):
            yield required(f"{path}.namespace")
    elif kind not in ("User", "Group"):
        yield not_supported(f"{path}.kind", kind, ("ServiceAccount", "User", "Group"))
    elif group != RBAC:
        yield not_supported(f"{path}.apiGroup", group, (RBAC,))


def _binding_change_errors(binding: Object, old: Object) -> list[FieldError]:
    reference = binding["roleRef"]
    if reference == old["roleRef"]:
        return []
    return [invalid("roleRef", go_form("RoleRef", reference), "cannot change roleRef")]


ROLE = Strategy(validate=_ROLE, name_errors=path_segment_name, allow_create_on_update=True)
CLUSTER_ROLE = replace(ROLE, validate=_CLUSTER_ROLE)
ROLE_BINDING = Strategy(
    default=_default_binding,
    validate=_binding_errors(("Role", "ClusterRole"), namespaced=True),
    validate_update=_binding_change_errors,
    name_errors=path_segment_name,
    allow_create_on_update=True,
)
CLUSTER_ROLE_BINDING = replace(
    ROLE_BINDING, validate=_binding_errors(("ClusterRole",), namespaced=False)
)
