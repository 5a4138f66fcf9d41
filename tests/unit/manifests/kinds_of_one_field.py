"""Kinds with one field in their spec, and the schema of that field."""

from types import new_class
from typing import Any, Final

from steersman.kinds import CustomResource, Part, Resource
from steersman.manifests import as_document, crd_of

NOTHING: Final = object()


def kind_with(annotation: Any, default: Any = NOTHING, **keywords: Any) -> type[Resource]:
    """A kind whose spec has one field, ``it``."""
    body: dict[str, Any] = {"__annotations__": {"it": annotation}, "__module__": __name__}
    if default is not NOTHING:
        body["it"] = default
    spec = new_class("Spec", (Part,), {}, lambda namespace: namespace.update(body))
    usual = {"group": "one.example.com", "version": "v1"}
    return new_class(
        "One",
        (CustomResource[spec, Part],),  # type: ignore[valid-type]
        usual | keywords,
        lambda namespace: namespace.update({"__module__": __name__}),
    )


def schema_in(kind: type[Resource]) -> dict[str, Any]:
    """The schema of a kind's objects in the stored version."""
    found: dict[str, Any] = as_document(crd_of(kind))["spec"]["versions"][0]["schema"]
    return dict(found["openAPIV3Schema"])


def spec_of(annotation: Any, default: Any = NOTHING) -> dict[str, Any]:
    """The schema of a spec with one field, ``it``."""
    return dict(schema_in(kind_with(annotation, default))["properties"]["spec"])


def field_of(annotation: Any, default: Any = NOTHING) -> dict[str, Any]:
    """The schema of the field."""
    return dict(spec_of(annotation, default)["properties"]["it"])
