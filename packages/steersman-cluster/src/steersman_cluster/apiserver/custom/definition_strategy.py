"""The strategy of CustomResourceDefinitions: their validation and their defaults."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from steersman.names import GroupResource
from steersman_cluster.apiserver.custom.conversion_validation import (
    bundle_problem,
    conversion_errors,
)
from steersman_cluster.apiserver.custom.definition_status import (
    APPROVAL,
    approval_of,
    is_established,
    is_protected,
    terminating,
)
from steersman_cluster.apiserver.custom.internal_form import InternalSpec, shown_versions
from steersman_cluster.apiserver.custom.version_validation import version_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    immutable,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_1035_label,
    dns_subdomain,
    subdomain_name,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext
from steersman_cluster.apiserver.schema.formats import recognized
from steersman_cluster.apiserver.schema.structural import JUNCTORS

DEFINITIONS: Final = GroupResource("apiextensions.k8s.io", "customresourcedefinitions")

_SCOPES: Final = ("Cluster", "Namespaced")


def _default(crd: Object) -> None:
    spec = crd.setdefault("spec", {})
    names = spec.setdefault("names", {})
    kind = names.get("kind") or ""
    # singular and listKind are set in Go's order of fields, in which kube-apiserver stores them.
    if not names.get("singular") and kind:
        names["singular"] = kind.lower()
    if not names.get("listKind") and kind:
        names["listKind"] = f"{kind}List"
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    client = (conversion.get("webhook") or {}).get("clientConfig") or {}
    if client.get("service") is not None:
        client["service"].setdefault("port", 443)
    webhook = conversion.get("webhook")
    if webhook is not None and all(each in (None, []) for each in webhook.values()):
        # kube-apiserver's internal type has the fields of the webhook without the struct around
        # them, so that an empty struct is lost.
        del conversion["webhook"]


def _storage_version(crd: Object) -> str | None:
    versions = crd["spec"].get("versions") or ()
    return next((each["name"] for each in versions if each.get("storage")), None)


def _prepare_create(crd: Object, _: StrategyContext) -> None:
    version = _storage_version(crd)
    crd["status"] = {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": None if version is None else [version],
    }


def _prepare_update(crd: Object, old: Object, _: StrategyContext) -> None:
    status, version = dict(old["status"]), _storage_version(crd)
    stored = status.get("storedVersions") or []
    if version is not None and version not in stored:
        status["storedVersions"] = [*stored, version]
    crd["status"] = status


def _prepare_status(crd: Object, _: Object, __: StrategyContext) -> None:
    status = crd.get("status") or {}
    if not status.get("storedVersions") and (version := _storage_version(crd)) is not None:
        crd["status"] = {**status, "storedVersions": [version]}


def _validate_create(crd: Object) -> list[FieldError]:
    # On create, the CA bundle is not validated: it may be added later.
    return [*_spec_errors(crd["spec"], reads_bundle=False), *_other_errors(crd)]


def _other_errors(crd: Object) -> list[FieldError]:
    return [
        *_names_errors(crd["status"]["acceptedNames"], "status.acceptedNames"),
        *_stored_errors(crd),
        *_approval_errors(crd),
        *_preserving_errors(crd["spec"]),
    ]


def _name_errors_of(crd: Object) -> Callable[[str, bool], list[str]]:
    spec = crd["spec"]
    only = f"{spec['names'].get('plural', '')}.{spec.get('group', '')}"

    def errors(name: str, is_prefix: bool) -> list[str]:
        others = [] if name == only else ['must be spec.names.plural+"."+spec.group']
        return subdomain_name(name, is_prefix) + others

    return errors


def _validate_update(crd: Object, old: Object) -> list[FieldError]:
    fixed = ["spec.group", "spec.names.plural"]
    if is_established(old):
        fixed = ["spec.scope", "spec.names.kind", *fixed]
    changed = [path for path in fixed if _at(crd, path) != _at(old, path)]
    return [
        *_spec_errors(crd["spec"], reads_bundle=_had_good_bundle(old)),
        *(immutable(path, _at(crd, path)) for path in changed),
        *_other_errors(crd),
    ]


def _had_good_bundle(old: Object) -> bool:
    """Whether ``old`` is an established CRD whose CA bundle is missing or valid."""
    webhook = old["spec"]["conversion"].get("webhook") or {}
    bundle = (webhook.get("clientConfig") or {}).get("caBundle", "")
    return is_established(old) and not bundle_problem(bundle)


def _validate_status(crd: Object, _: Object) -> list[FieldError]:
    names = (crd.get("status") or {}).get("acceptedNames") or {}
    return list(_names_errors(names, "status.acceptedNames"))


def _at(crd: Object, path: str) -> str:
    value: Any = crd
    for key in path.split("."):
        value = value.get(key, "")
    return str(value)


def _spec_errors(spec: Object, *, reads_bundle: bool) -> Iterator[FieldError]:
    group, names, scope = spec.get("group", ""), spec["names"], spec.get("scope", "")
    versions = spec.get("versions") or []
    form = InternalSpec.of(spec)
    if not group:
        yield required("spec.group")
    elif wrong := dns_subdomain(group):
        yield invalid("spec.group", group, ",".join(wrong))
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")
    if not scope:
        yield required("spec.scope")
    elif scope not in _SCOPES:
        yield not_supported("spec.scope", scope, _SCOPES)
    for index, each in enumerate(versions):
        if (each.get("schema") or {}).get("openAPIV3Schema") is None:
            yield required(f"spec.versions[{index}].schema.openAPIV3Schema")
    if spec.get("preserveUnknownFields") and any(
        said.get("default") is not None for each in versions for said in _schemas(each)
    ):
        why = "must be false in order to use defaults in the schema"
        yield invalid("spec.preserveUnknownFields", True, why)
    for index, own in enumerate(form.versions):
        path = f"spec.versions[{index}]"
        if wrong := dns_1035_label(own.get("name", "")):
            yield invalid(f"{path}.name", own.get("name", ""), ",".join(wrong))
        has_status = "status" in (versions[index].get("subresources") or {})
        yield from version_errors(own, path, has_status=has_status, schema_key="schema")
    called = [each.get("name", "") for each in versions]
    if len(set(called)) < len(called):
        why = "must contain unique version names"
        yield invalid("spec.versions", shown_versions(form.versions), why)
    if sum(bool(each.get("storage")) for each in versions) != 1:
        why = "must have exactly one version marked as storage version"
        yield invalid("spec.versions", shown_versions(form.versions), why)
    if called and called[0] and (wrong := dns_1035_label(called[0])):
        yield invalid("spec.version", called[0], ",".join(wrong))
    for key in ("plural", "singular", "kind", "listKind"):
        if not names.get(key):
            yield required(f"spec.names.{key}")
    yield from _names_errors(names, "spec.names")
    any_status = any("status" in (each.get("subresources") or {}) for each in versions)
    yield from version_errors(form.shared, "spec", has_status=any_status, schema_key="validation")
    yield from conversion_errors(spec, reads_bundle=reads_bundle)


def _names_errors(names: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    mixed = "may have mixed case, but should otherwise match: "
    for key in ("plural", "singular"):
        if names.get(key) and (wrong := dns_1035_label(names[key])):
            yield invalid(f"{path}.{key}", names[key], ",".join(wrong))
    for key in ("kind", "listKind"):
        if names.get(key) and (wrong := dns_1035_label(names[key].lower())):
            yield invalid(f"{path}.{key}", names[key], mixed + ",".join(wrong))
    yield from _label_errors(names.get("shortNames") or (), f"{path}.shortNames")
    if names.get("kind") and names["kind"] == names.get("listKind"):
        why = "kind and listKind may not be the same"
        yield invalid(f"{path}.listKind", names["listKind"], why)
    yield from _label_errors(names.get("categories") or (), f"{path}.categories")


def _label_errors(labels: Any, path: str) -> Iterator[FieldError]:
    for index, each in enumerate(labels):
        if wrong := dns_1035_label(each):
            yield invalid(f"{path}[{index}]", each, ",".join(wrong))


def _stored_errors(crd: Object) -> Iterator[FieldError]:
    path, stored = "status.storedVersions", crd["status"].get("storedVersions")
    if not stored:
        yield invalid(path, None, "must have at least one stored version")
        return
    versions = {each["name"]: each for each in crd["spec"].get("versions") or ()}
    for name, version in versions.items():
        if version.get("storage") and name not in stored:
            yield invalid(path, stored, f"must have the storage version {name}")
    for index, name in enumerate(stored):
        if name not in versions:
            why = (
                f"missing from spec.versions; {name} was previously a storage version, and must"
                " remain in spec.versions until a storage migration ensures no data remains"
                f" persisted in {name} and removes {name} from status.storedVersions"
            )
            yield invalid(f"{path}[{index}]", name, why)


def _approval_errors(crd: Object) -> Iterator[FieldError]:
    if not is_protected(crd["spec"].get("group", "")):
        return
    path = f"metadata.annotations[{APPROVAL}]"
    reason, why = approval_of(crd)
    if reason == "MissingAnnotation":
        yield required(path, why)
    elif reason == "InvalidAnnotation":
        yield invalid(path, crd["metadata"]["annotations"][APPROVAL], why)


def _preserving_errors(spec: Object) -> Iterator[FieldError]:
    if spec.get("preserveUnknownFields"):
        why = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in"
            " spec.versions[*].schema instead"
        )
        yield invalid("spec.preserveUnknownFields", True, why)


def _schemas(version: Object) -> Iterator[Object]:
    """Yield the schema of a version, and every schema inside it."""
    if (root := (version.get("schema") or {}).get("openAPIV3Schema")) is not None:
        yield from _within(root)


def _within(schema: Object) -> Iterator[Object]:
    yield schema
    items = schema.get("items")
    inside = [*(items if isinstance(items, list) else (items,))]
    for junctor in JUNCTORS:
        inside += schema.get(junctor) or ()
    inside.append(schema.get("not"))
    for key in ("properties", "patternProperties", "definitions"):
        inside += (schema.get(key) or {}).values()
    inside += (schema.get("additionalProperties"), schema.get("additionalItems"))
    for each in inside:
        if isinstance(each, dict):
            yield from _within(each)


def _warnings(crd: Object, old: Object | None) -> list[str]:
    known = [] if old is None else _unknown_formats(old)
    return [f'unrecognized format "{each}"' for each in _unknown_formats(crd) if each not in known]


def _unknown_formats(crd: Object) -> list[str]:
    found = [
        each
        for version in crd["spec"].get("versions") or ()
        if (root := (version.get("schema") or {}).get("openAPIV3Schema")) is not None
        for each in _unknown_in(msgspec.json.encode(root))
    ]
    return list(dict.fromkeys(found))


# Cached because each write of a definition, also of its status, reads the same schema.
@lru_cache(maxsize=64)
def _unknown_in(schema: bytes) -> tuple[str, ...]:
    return tuple(
        said["format"]
        for said in _within(msgspec.json.decode(schema))
        if said.get("format") and not recognized(said["format"], said.get("type"))
    )


DEFINITION: Final = Strategy(
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=_prepare_update,
    prepare_status=_prepare_status,
    validate_create=_validate_create,
    validate_update=_validate_update,
    validate_status=_validate_status,
    name_errors_of=_name_errors_of,
    warnings=_warnings,
    generation_fields=("spec",),
    has_status=True,
    allow_unconditional_update=False,
    begin_deletion=terminating,
)
