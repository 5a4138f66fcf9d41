"""The facts about an API that generated kinds, and tools that read a server's API, need.

The facts are structure, names, types, defaults, required lists and merge keys. Descriptions are
left out, and so are paths, because discovery lists the resources in a tenth of the size. There is
one set of facts for each group and version, with the name of the generated module; schemas that
belong to no group are in ``meta_v1``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from steersman.openapi import Facts

Schema: TypeAlias = Mapping[str, Any]

META = "meta_v1"
REF = "#/components/schemas/"

_BUILT_IN = "io.k8s."
_SHARED = "io.k8s.apimachinery."
_STABLE = re.compile(r"v[0-9]+")
_WORDS = {"description", "title", "example", "externalDocs"}
_META_KIND = {"group": "", "version": "v1"}


def facts_of(documents: Iterable[Schema], discovery: Iterable[Schema]) -> dict[str, Facts]:
    """Return the facts of each stable version, by module, from OpenAPI and discovery documents."""
    facts = {META: Facts(group="meta.k8s.io", version="v1", resources={}, schemas={})}
    schemas: dict[str, Any] = {}
    for document in documents:
        for name, schema in document.get("components", {}).get("schemas", {}).items():
            if not name.startswith(_BUILT_IN):
                continue
            if schemas.setdefault(name, pruned := _pruned(name, schema)) != pruned:
                raise ValueError(f"two documents contain different schemas of {name}")
    modules = _modules(schemas)
    for group, version in _stable_versions(discovery):
        if module := modules.get((group, version["version"])):
            facts[module] = Facts(
                group=group,
                version=version["version"],
                resources=dict(_resource(each) for each in version["resources"]),
                schemas={},
            )
    for name, schema in schemas.items():
        if (module := module_of(name)) in facts:
            facts[module]["schemas"][name] = schema
    return facts


def module_of(component: str) -> str:
    """Return the module of a schema: ``apps_v1`` for ``io.k8s.api.apps.v1.Deployment``."""
    if component.startswith(_SHARED):
        return META
    *_, group, version, _ = component.split(".")
    return f"{group}_{version}"


def _modules(schemas: Mapping[str, Schema]) -> dict[tuple[str, str], str]:
    """Return the module of each group and version, derived from the names of schemas."""
    # The module of rbac.authorization.k8s.io is rbac_v1, which cannot be derived from the group.
    return {
        (kind["group"], kind["version"]): module_of(name)
        for name, schema in schemas.items()
        for kind in schema.get("x-kubernetes-group-version-kind", ())
        if module_of(name) != META
    }


def _stable_versions(discovery: Iterable[Schema]) -> Iterator[tuple[str, Schema]]:
    for groups in discovery:
        for group in groups["items"]:
            for version in group["versions"]:
                if _STABLE.fullmatch(version["version"]):
                    yield group["metadata"].get("name", ""), version


def _resource(found: Schema) -> tuple[str, Schema]:
    facts = {
        "kind": found["responseKind"]["kind"],
        "singular": found["singularResource"],
        "namespaced": found["scope"] == "Namespaced",
        "verbs": found["verbs"],
        "shortNames": found.get("shortNames"),
        "categories": found.get("categories"),
        "subresources": {
            each["subresource"]: {
                **{key: value for key, value in each["responseKind"].items() if value},
                "verbs": each["verbs"],
            }
            for each in found.get("subresources", ())
        },
    }
    return found["resource"], {
        key: value for key, value in facts.items() if value not in (None, {})
    }


def _pruned(name: str, schema: Schema) -> Schema:
    kept: dict[str, Any] = _without_words(schema)
    kinds = kept.get("x-kubernetes-group-version-kind", ())
    if module_of(name) == META and len(kinds) > 1:
        # DeleteOptions and WatchEvent are listed in every API group.
        kept["x-kubernetes-group-version-kind"] = [
            k for k in kinds if _META_KIND.items() <= k.items()
        ]
    return kept


def _without_words(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "patternProperties"):
            kept[key] = {name: _without_words(each) for name, each in value.items()}
        elif key in ("allOf", "anyOf", "oneOf"):
            kept[key] = [_without_words(each) for each in value]
        elif key in ("items", "additionalProperties", "not"):
            kept[key] = _without_words(value)
        elif key not in _WORDS:
            kept[key] = value
    return kept
