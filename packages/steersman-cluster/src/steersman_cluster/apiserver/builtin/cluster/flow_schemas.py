"""The rules of FlowSchemas: which requests belong to which priority level."""

from collections.abc import Iterator
from typing import Final

import msgspec

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.rule import Check
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, dns_subdomain
from steersman_cluster.apiserver.meta.strategy import Object

EXEMPT: Final = "exempt"
_MAX_PRECEDENCE: Final = 10000
_VERBS: Final = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
)
_NAMESPACE: Final = "each member of this list must be '*' or a DNS-1123 label; "


def flow_schema_errors(flow_schema: Object) -> list[FieldError]:
    """Return the errors in the spec of a FlowSchema."""
    name = flow_schema["metadata"].get("name", "")
    return _SPEC(flow_schema.get("spec") or {}, "spec", name)


def _exempt_errors(precedence: int, path: str, name: str) -> Iterator[FieldError]:
    if precedence == 1 and name != EXEMPT:
        why = "only the schema named 'exempt' may have matchingPrecedence 1"
        yield invalid(path, precedence, why)


def _distinguisher_errors(method: Object, path: str) -> Iterator[FieldError]:
    kind = method.get("type", "")
    if kind not in ("ByNamespace", "ByUser"):
        # kube-apiserver prints the struct, not the field.
        shown = msgspec.Raw(msgspec.json.encode({"Type": kind}))
        yield not_supported(f"{path}.type", shown, ("ByNamespace", "ByUser"))


def _only(what: str) -> Check:
    """A list with ``*`` must have no other element."""
    return rule.must(
        lambda values: len(values) <= 1 or "*" not in values,
        f"if '*' is present, must not specify other {what}",
    )


def _verb_errors(verbs: list[str], path: str) -> Iterator[FieldError]:
    if "*" not in verbs and not {*verbs} <= {*_VERBS}:
        yield not_supported(path, verbs, _VERBS)


def _empty_errors(policy: Object, path: str) -> Iterator[FieldError]:
    if not policy.get("resourceRules") and not policy.get("nonResourceRules"):
        why = "at least one of resourceRules and nonResourceRules has to be non-empty"
        yield required(path, why)


def _unscoped_errors(resources: Object, path: str) -> Iterator[FieldError]:
    if not resources.get("namespaces") and not resources.get("clusterScope"):
        why = "resource rules that are not cluster scoped must supply at least one namespace"
        yield required(f"{path}.namespaces", why)


def _namespace_messages(name: str) -> list[str]:
    return [f"{_NAMESPACE}{each}" for each in dns_label(name)]


def _url_messages(url: str) -> list[str]:
    if not url:
        return ["must not be empty"]
    if url == "/":
        return []
    if not url.startswith("/"):
        return ["must start with slash"]
    if " " in url:
        return ["must not contain white-space"]
    if "//" in url:
        return ["must not contain double slash"]
    if url.count("*") > 1 or ("*" in url and not url.endswith("/*")):
        return ["wildcard can only do suffix matching"]
    return []


_VERB_LIST: Final = rule.required(
    "verbs",
    _only("verbs"),
    rule.code(_verb_errors),
    detail="verbs must contain at least one value",
)
_RESOURCES: Final = rule.table(
    _VERB_LIST,
    rule.required(
        "apiGroups",
        _only("api groups"),
        detail="resource rules must supply at least one api group",
    ),
    rule.required(
        "resources",
        _only("resources"),
        detail="resource rules must supply at least one resource",
    ),
    rule.code(_unscoped_errors),
    rule.optional(
        "namespaces",
        _only("namespaces"),
        rule.when(lambda names: "*" not in names, rule.each(_namespace_messages)),
    ),
)
_URLS: Final = rule.table(
    _VERB_LIST,
    rule.required(
        "nonResourceURLs",
        _only("non-resource URLs"),
        rule.when(lambda urls: "*" not in urls, rule.each(_url_messages)),
        detail="nonResourceURLs must contain at least one value",
    ),
)


def _subject(kind: str, field: str, *rules: Check) -> Check:
    """A subject of ``kind``, which is named in ``field``."""
    others = {"User": "user", "Group": "group", "ServiceAccount": "serviceAccount"}
    return rule.table(
        rule.needed(field, *rules, detail=f"{field} is required when subject kind is '{kind}'"),
        *(
            rule.forbidden(
                other, detail=f"{other} is forbidden when subject kind is not '{other_kind}'"
            )
            for other_kind, other in others.items()
            if other != field
        ),
    )


def _account_messages(name: str) -> list[str]:
    return [] if name == "*" else dns_subdomain(name)


_SUBJECTS: Final = {
    "Group": _subject("Group", "group", rule.required("name")),
    "ServiceAccount": _subject(
        "ServiceAccount",
        "serviceAccount",
        rule.required("name", _account_messages),
        rule.required("namespace", dns_label, detail="must specify namespace for service account"),
    ),
    "User": _subject("User", "user", rule.required("name")),
}


def _subject_errors(subject: Object, path: str) -> list[FieldError]:
    kind = subject.get("kind", "")
    if kind not in _SUBJECTS:
        return [not_supported(f"{path}.kind", kind, tuple(_SUBJECTS))]
    return _SUBJECTS[kind](subject, path)


# The scope is the name of the FlowSchema.
_SPEC: Final = rule.table(
    rule.always(
        "matchingPrecedence",
        rule.must(lambda number: number > 0, "must be a positive value"),
        rule.must(
            lambda number: number <= _MAX_PRECEDENCE,
            f"must not be greater than {_MAX_PRECEDENCE}",
        ),
        rule.scoped(_exempt_errors),
        default=0,
    ),
    rule.given("distinguisherMethod", rule.code(_distinguisher_errors)),
    rule.required(
        "priorityLevelConfiguration.name", dns_subdomain, detail="must reference a priority level"
    ),
    rule.given(
        "rules",
        rule.each(
            rule.required(
                "subjects",
                rule.each(rule.code(_subject_errors)),
                detail="subjects must contain at least one value",
            ),
            rule.code(_empty_errors),
            rule.given("resourceRules", rule.each(_RESOURCES)),
            rule.given("nonResourceRules", rule.each(_URLS)),
        ),
    ),
)
