"""From a CustomResourceDefinition (CRD) to the resources that are served for it."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.custom.cel_validation import CelValidation
from steersman_cluster.apiserver.custom.definition_status import is_ending, is_established
from steersman_cluster.apiserver.custom.scale import replicas_errors, selector_errors
from steersman_cluster.apiserver.custom.version_conversion import converting
from steersman_cluster.apiserver.meta.field_errors import FieldError, shown
from steersman_cluster.apiserver.meta.go_messages import go_text
from steersman_cluster.apiserver.meta.name_validation import subdomain_name
from steersman_cluster.apiserver.meta.object_meta import STANDARD_FINALIZERS
from steersman_cluster.apiserver.meta.strategy import Object, Strategy
from steersman_cluster.apiserver.request.resources import ScalePaths, ServedResource
from steersman_cluster.apiserver.schema.defaults import Defaults
from steersman_cluster.apiserver.schema.embedded_resources import embedded_errors
from steersman_cluster.apiserver.schema.node import UNSET, Schema
from steersman_cluster.apiserver.schema.structural import VALIDATIONS, children, compile_schema
from steersman_cluster.apiserver.schema.uniqueness import Uniqueness
from steersman_cluster.apiserver.schema.validator import Validator
from steersman_cluster.apiserver.tables.custom import custom_printer

VERBS: Final = frozenset(
    ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
)
_SUBRESOURCE_VERBS: Final = ["get", "patch", "update"]


def served(crd: Object, *, object_meta: Schema) -> tuple[ServedResource, ...]:
    """Return one served resource for each served version of ``crd``.

    The result is empty until the CRD is established. ``object_meta`` is the schema of metadata.
    """
    if not is_established(crd):
        return ()
    namespaced = crd["spec"]["scope"] == "Namespaced"
    versions = {each["name"]: each for each in crd["spec"]["versions"]}
    compiled = {
        name: _compiled(msgspec.json.encode(each), namespaced=namespaced, object_meta=object_meta)
        for name, each in versions.items()
    }
    return tuple(_served(crd, each, compiled) for each in versions.values() if each.get("served"))


class _Compiled(NamedTuple):
    """The compiled parts of one version, independent of the server and of its requests.

    There is one exception: the CEL rules cache the last object and its warnings for a short time.
    """

    schema: Schema
    strategy: Strategy
    paths: ScalePaths | None


# Cached because each write of a status, and each server of a test, compiles the same definitions.
@lru_cache(maxsize=64)
def _compiled(written: bytes, *, namespaced: bool, object_meta: Schema) -> _Compiled:
    version: Object = msgspec.json.decode(written)
    schema = compile_schema(_schema(version), object_meta=object_meta)
    paths = _scale_paths((version.get("subresources") or {}).get("scale"))
    return _Compiled(schema, _strategy(version, schema, paths, namespaced=namespaced), paths)


def _schema(version: Object) -> Object:
    schema: Object = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    return schema


def _served(crd: Object, version: Object, compiled: Mapping[str, _Compiled]) -> ServedResource:
    spec, names = crd["spec"], crd["status"]["acceptedNames"]
    gvk = GroupVersionKind(spec["group"], version["name"], names["kind"])
    subresources = version.get("subresources") or {}
    offered: dict[str, Mapping[str, Any]] = {}
    if "status" in subresources:
        offered["status"] = {"kind": gvk.kind, "verbs": _SUBRESOURCE_VERBS}
    if "scale" in subresources:
        scale = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
        offered["scale"] = {**scale, "verbs": _SUBRESOURCE_VERBS}
    schema, strategy, paths = compiled[gvk.version]
    made = ServedResource(
        gvk=gvk,
        plural=names["plural"],
        singular=names["singular"],
        list_kind=names["listKind"],
        namespaced=spec["scope"] == "Namespaced",
        verbs=VERBS,
        schema=schema,
        strategy=strategy,
        stored_as=f"{names['plural']}.{gvk.group}",
        stored_version=next(each["name"] for each in spec["versions"] if each.get("storage")),
        custom=True,
        is_terminating=is_ending(crd),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        subresources=offered,
        scale=paths,
        deprecation=_deprecation(crd, version),
        selectable_paths=tuple(
            each["jsonPath"].removeprefix(".") for each in version.get("selectableFields") or ()
        ),
        printer=custom_printer(version.get("additionalPrinterColumns") or ()),
    )
    schemas = {name: each.schema for name, each in compiled.items()}
    return converting(made, crd, version, schemas)


def _scale_paths(scale: Object | None) -> ScalePaths | None:
    if scale is None:
        return None
    selector = scale.get("labelSelectorPath")
    return ScalePaths(
        spec_replicas=_steps(scale["specReplicasPath"]),
        status_replicas=_steps(scale["statusReplicasPath"]),
        selector=_steps(selector) if selector else None,
    )


def _steps(path: str) -> tuple[str, ...]:
    return tuple(path.removeprefix(".").split("."))


def _strategy(
    version: Object, schema: Schema, paths: ScalePaths | None, *, namespaced: bool
) -> Strategy:
    validator, uniqueness = Validator(_schema(version)), Uniqueness(schema)
    status_schema = (_schema(version).get("properties") or {}).get("status")
    status_validator = None if status_schema is None else Validator(status_schema)

    has_rules = any(each.get(VALIDATIONS) for each in _within(_schema(version)))
    judging = CelValidation(_schema(version)) if has_rules else None

    def completed(errors: list[FieldError], new: Object, old: Any = UNSET) -> list[FieldError]:
        return errors if judging is None else judging.completed(errors, new, old)

    def scale_errors(new: Object) -> list[FieldError]:
        if paths is None:
            return []
        return [*replicas_errors(new, paths.spec_replicas), *_counted_errors(new, paths)]

    def validate_create(new: Object) -> list[FieldError]:
        return completed(
            [
                *validator.errors(new),
                *scale_errors(new),
                *embedded_errors(new, schema),
                *uniqueness.errors(new),
            ],
            new,
        )

    def validate_update(new: Object, old: Object) -> list[FieldError]:
        return completed(
            [
                *validator.errors(new, old=old),
                *scale_errors(new),
                *embedded_errors(new, schema),
                *_newly_repeated(uniqueness, new, old),
            ],
            new,
            old,
        )

    def validate_status(new: Object, old: Object) -> list[FieldError]:
        errors: list[FieldError] = []
        if status_validator is not None and "status" in new:
            before = old.get("status", UNSET)
            errors += status_validator.errors(new["status"], old=before, at="status")
        if paths is not None:
            errors += _counted_errors(new, paths)
        return completed(errors + _newly_repeated(uniqueness, new, old), new, old)

    return Strategy(
        default=Defaults(schema).fill,
        validate_create=validate_create,
        validate_update=validate_update,
        validate_status=validate_status,
        name_errors=subdomain_name,
        ratcheted_errors=_silent if judging is None else judging.warnings,
        warnings=_warnings,
        selectable=_selectable(version, namespaced=namespaced),
        generation_fields=("spec",),
        has_status="status" in (version.get("subresources") or {}),
        allow_unconditional_update=False,
    )


def _within(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield schema
    for each, _ in children(schema, ""):
        yield from _within(each)


def _counted_errors(new: Object, paths: ScalePaths) -> list[FieldError]:
    selector = [] if paths.selector is None else selector_errors(new, paths.selector)
    return [*replicas_errors(new, paths.status_replicas), *selector]


def _newly_repeated(uniqueness: Uniqueness, new: Object, old: Object) -> list[FieldError]:
    """Return the errors for duplicates, unless the old object already contained duplicates."""
    found = uniqueness.errors(new)
    return [] if found and uniqueness.errors(old) else found


def _silent(_: Object) -> list[str]:
    return []


def _warnings(new: Object, old: Object | None) -> list[str]:
    known = (old or {"metadata": {}})["metadata"].get("finalizers") or ()
    added = set(new["metadata"].get("finalizers") or ()) - set(known) - STANDARD_FINALIZERS
    return [
        f"metadata.finalizers: {shown(each)}: prefer a domain-qualified finalizer name"
        f"{' including a path (/)' if '.' in each else ''} to avoid accidental conflicts with"
        " other finalizer writers"
        for each in sorted(added)
        if "/" not in each
    ]


def _selectable(version: Object, *, namespaced: bool) -> Callable[[Object], Mapping[str, str]]:
    fields = {
        each["jsonPath"].removeprefix("."): _steps(each["jsonPath"])
        for each in version.get("selectableFields") or ()
    }

    def selectable(obj: Object) -> Mapping[str, str]:
        metadata = obj["metadata"]
        values = {"metadata.name": metadata.get("name", "")}
        if namespaced:
            values["metadata.namespace"] = metadata.get("namespace", "")
        for name, steps in fields.items():
            value: Any = obj
            for step in steps:
                value = value.get(step) if isinstance(value, dict) else None
            values[name] = "" if value is None else go_text(value)
        return values

    return selectable


def _deprecation(crd: Object, version: Object) -> str | None:
    if not version.get("deprecated"):
        return None
    if version.get("deprecationWarning") is not None:
        return str(version["deprecationWarning"])
    group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
    name = version["name"]
    newer = [
        each["name"]
        for each in crd["spec"]["versions"]
        if each.get("served") and not each.get("deprecated") and _age(each["name"]) < _age(name)
    ]
    sentence = f"{group}/{name} {kind} is deprecated"
    return f"{sentence}; use {group}/{min(newer, key=_age)} {kind}" if newer else sentence


_KUBERNETES_VERSION: Final = re.compile(r"v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?")


def _age(version: str) -> tuple[Any, ...]:
    """Return a sort key for versions by preference: v2, v1, v1beta2, v1alpha1, then others."""
    found = _KUBERNETES_VERSION.fullmatch(version)
    if found is None:
        return 3, version
    major, stage, minor = found.groups()
    return {None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0)
