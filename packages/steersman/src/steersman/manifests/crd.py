"""``crd_of``: the CustomResourceDefinition of a kind, generated from its class only."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, cast
from urllib.parse import urlsplit

import msgspec

from steersman.errors import CannotBeACrd
from steersman.kinds import Column, Crd, Resource, ScalePaths, apiextensions_v1, meta_v1
from steersman.manifests.definition.definition import VALIDATIONS
from steersman.manifests.schema.json_paths import UnresolvedPath, resolve
from steersman.manifests.schema.kind_schema import Schema, schema_of
from steersman.manifests.schema.place import Place

APPROVAL: Final = "api-approved.kubernetes.io"

# These groups belong to the Kubernetes community, which must approve a new kind.
_PROTECTED: Final = ("k8s.io", "kubernetes.io")


def crd_of(kind: type[Resource]) -> apiextensions_v1.CustomResourceDefinition:
    """Return the CustomResourceDefinition of the kind with all its versions.

    The result is the same for every call. If a field has no schema, ``CannotBeACrd`` names the
    field, the reason and the remedy.
    """
    return _made(cast(Any, kind))


@cache
def _made(kind: type[Resource]) -> apiextensions_v1.CustomResourceDefinition:
    if not hasattr(kind, "resource_type"):
        raise CannotBeACrd(
            kind=kind.__name__,
            field="",
            problem="it is not the class of a kind",
            what_now="Name its group and version in the class statement.",
        )
    where = kind.resource_type
    declared: Crd | None = getattr(kind, "declared_crd", None)
    place = Place(where.gvk.kind)
    if declared is None:
        raise place.refused(
            "another project defines it", "Remove crd=None if it is a kind of your own."
        )
    names = apiextensions_v1.CustomResourceDefinitionNames(
        kind=where.gvk.kind,
        plural=where.plural,
        singular=declared.singular or where.gvk.kind.lower(),
        list_kind=declared.list_kind or f"{where.gvk.kind}List",
        short_names=declared.short_names or None,
        categories=declared.categories or None,
    )
    if names.list_kind == names.kind:
        raise place.refused("its list_kind is the same as its kind", "Use another list_kind.")
    return apiextensions_v1.CustomResourceDefinition(
        metadata=meta_v1.ObjectMeta(
            name=f"{where.plural}.{where.gvk.group}",
            annotations=_annotations(where.gvk.group, declared, place),
        ),
        spec=apiextensions_v1.CustomResourceDefinitionSpec(
            group=where.gvk.group,
            names=names,
            scope="Namespaced" if where.namespaced else "Cluster",
            versions=(
                _version(kind, declared, stored=True),
                *(
                    _version(other, other.declared_crd or Crd(), stored=False)
                    for other in declared.also_serves
                ),
            ),
        ),
    )


def crds_of(
    kinds: Iterable[type[Resource]],
) -> tuple[apiextensions_v1.CustomResourceDefinition, ...]:
    """Return the CustomResourceDefinitions of several kinds, in the order of the kinds.

    A class that another of these kinds lists in ``also_serves`` is a version in the other kind's
    definition and gets no definition itself.
    """
    wanted = dict.fromkeys(kinds)
    served = {
        other
        for kind in wanted
        if (declared := kind.declared_crd) is not None
        for other in declared.also_serves
    }
    found: dict[str, type[Resource]] = {}
    for kind in wanted:
        if kind in served:
            continue
        name = crd_of(kind).name
        if (first := found.setdefault(name, kind)) is not kind:
            place, one = Place(kind.resource_type.gvk.kind), first.resource_type.gvk.kind
            if one != place.kind:
                raise place.refused(
                    f"{one} and {place.kind} have the same name, {name}",
                    "Set another plural= for one of them.",
                )
            raise place.refused(
                f"{first.__qualname__} and {kind.__qualname__} are both the stored version of"
                f" {name}",
                f"Name one of them in also_serves= of the other's Crd, such as"
                f" Crd(also_serves=({first.__name__},)).",
            )
    return tuple(map(crd_of, found.values()))


def _annotations(group: str, declared: Crd, place: Place) -> Mapping[str, str] | None:
    approved = declared.approved
    if approved is None:
        if any(group == each or group.endswith(f".{each}") for each in _PROTECTED):
            raise place.refused(
                f"groups under {' and '.join(_PROTECTED)} are reserved for kinds that the"
                f" Kubernetes community has approved, and {group} is such a group",
                "Set the URL of the approval, crd=Crd(approved='https://...'), or a reason that"
                " begins with 'unapproved'; or use a group of your own.",
            )
        return None
    parts = urlsplit(approved)
    if not approved.startswith("unapproved") and not (parts.scheme and parts.netloc):
        raise place.refused(
            f"approved={approved!r} is not a URL",
            "Set the URL of the approval, or a reason that begins with 'unapproved'.",
        )
    return {APPROVAL: approved}


def _version(
    kind: type[Any], declared: Crd, *, stored: bool
) -> apiextensions_v1.CustomResourceDefinitionVersion:
    gvk = kind.resource_type.gvk
    place = Place(gvk.kind if stored else f"{gvk.kind} {gvk.version}")
    if stored and not declared.served:
        raise place.refused(
            "the stored version is not served", "Store another version, or serve this version, too."
        )
    schema = schema_of(kind, place)
    warning = declared.deprecated
    return apiextensions_v1.CustomResourceDefinitionVersion(
        name=gvk.version,
        served=declared.served,
        storage=stored,
        deprecated=True if warning else None,
        deprecation_warning=warning if isinstance(warning, str) else None,
        schema=apiextensions_v1.CustomResourceValidation(open_api_v3_schema=_typed(schema)),
        subresources=_subresources(declared.scale, schema, place),
        additional_printer_columns=tuple(_column(each, schema, place) for each in declared.columns)
        or None,
        selectable_fields=tuple(
            _selectable(each, schema, place) for each in declared.selectable_fields
        )
        or None,
    )


def _subresources(
    scale: ScalePaths | None, schema: Schema, place: Place
) -> apiextensions_v1.CustomResourceSubresources | None:
    has_status = "status" in schema["properties"]
    if not has_status and scale is None:
        return None
    if scale is None:
        return apiextensions_v1.CustomResourceSubresources(status={})
    for name, path, wanted in (
        ("spec", scale.spec, "integer"),
        ("status", scale.status, "integer"),
        ("selector", scale.selector, "string"),
    ):
        if path is None:
            continue
        found = _at(path, schema, f"the {name} path of its scale", place)
        if found and found.get("type") != wanted:
            raise place.refused(
                f"the {name} path of its scale, {path}, refers to"
                f" {found.get('type', 'an int or a string')}",
                "Name an integer field." if wanted == "integer" else "Name a string field.",
            )
    return apiextensions_v1.CustomResourceSubresources(
        status={} if has_status else None,
        scale=apiextensions_v1.CustomResourceSubresourceScale(
            spec_replicas_path=scale.spec,
            status_replicas_path=scale.status,
            label_selector_path=scale.selector,
        ),
    )


def _column(
    column: Column, schema: Schema, place: Place
) -> apiextensions_v1.CustomResourceColumnDefinition:
    found = _at(column.path, schema, f"the path of its column {column.name}", place)
    return apiextensions_v1.CustomResourceColumnDefinition(
        name=column.name,
        json_path=column.path,
        type=column.type or _column_type(found),
        format=column.format,
        description=column.description,
        priority=column.priority or None,
    )


def _column_type(schema: Mapping[str, Any]) -> str:
    if schema.get("format") in ("date-time", "date"):
        return "date"
    kind = schema.get("type")
    return str(kind) if kind in ("integer", "number", "boolean") else "string"


def _selectable(path: str, schema: Schema, place: Place) -> apiextensions_v1.SelectableField:
    found = _at(path, schema, "its selectable field", place)
    if "[" in path or path.startswith(".metadata."):
        raise place.refused(
            f"its selectable field {path} is inside a list, a map or the metadata",
            "Name a field of the spec or status.",
        )
    if found.get("type") not in ("string", "boolean", "integer"):
        raise place.refused(
            f"its selectable field {path} is not a string, integer or boolean",
            "Name another field.",
        )
    return apiextensions_v1.SelectableField(json_path=path)


def _at(path: str, schema: Schema, what: str, place: Place) -> Mapping[str, Any]:
    try:
        return resolve(path, schema)
    except UnresolvedPath as error:
        raise place.refused(
            f"{what}, {path}, does not exist: {error}",
            "Use the JSON names of the fields, such as .spec.maxSize.",
        ) from None


# The typed form is built from the values, because decoding would not preserve the form of numbers.


def _typed(schema: Schema) -> apiextensions_v1.JSONSchemaProps:
    return apiextensions_v1.JSONSchemaProps(**dict(_fields(schema)))


def _fields(schema: Schema) -> Iterator[tuple[str, Any]]:
    for keyword, value in schema.items():
        name = _FIELDS[keyword]
        if keyword == "properties":
            yield name, {wire: _typed(each) for wire, each in value.items()}
        elif keyword in ("items", "additionalProperties"):
            yield name, _typed(value)
        elif keyword == "anyOf":
            yield name, tuple(map(_typed, value))
        elif keyword == VALIDATIONS:
            yield (
                name,
                tuple(
                    apiextensions_v1.ValidationRule(
                        **{_RULE_FIELDS[wire]: each for wire, each in rule.items()}
                    )
                    for rule in value
                ),
            )
        else:
            yield name, tuple(value) if isinstance(value, list) and keyword in _LISTS else value


def _names(cls: type[Any]) -> Mapping[str, str]:
    return {field.encode_name: field.name for field in msgspec.structs.fields(cls)}


_FIELDS: Final = _names(apiextensions_v1.JSONSchemaProps)
_RULE_FIELDS: Final = _names(apiextensions_v1.ValidationRule)
_LISTS: Final = ("enum", "required", "x-kubernetes-list-map-keys")
