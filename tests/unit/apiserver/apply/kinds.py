"""Kinds with managed fields: two built-in ones, and a Zoo with every sort of field."""

from typing import Any, TypeAlias

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.apply import FieldManager, FieldSet
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas
from steersman_cluster.apiserver.schema.node import Schema

Object: TypeAlias = dict[str, Any]

SCHEMAS = BuiltinSchemas.read()
CONFIG_MAP = GroupVersionKind(group="", version="v1", kind="ConfigMap")
DEPLOYMENT = GroupVersionKind(group="apps", version="v1", kind="Deployment")
ZOO = GroupVersionKind(group="example.com", version="v1", kind="Zoo")

TEXT = Schema(type="string")
NUMBER = Schema(type="integer")
ANIMAL = Schema(
    type="object",
    properties={
        "name": TEXT,
        "kind": Schema(type="string", default="cat"),
        "legs": NUMBER,
        "toys": Schema(type="object", additional=TEXT),
    },
)
SPEC = Schema(
    type="object",
    properties={
        "animals": Schema(
            type="array", list_type="map", list_map_keys=("name", "kind"), items=ANIMAL
        ),
        "colors": Schema(type="array", list_type="set", items=Schema()),
        "queue": Schema(type="array", items=TEXT),
        "block": Schema(type="object", map_type="atomic", properties={"a": NUMBER}),
        "part": Schema(type="object", properties={"a": NUMBER, "b": NUMBER}),
        "labels": Schema(type="object", additional=TEXT),
        "free": Schema(type="object", preserve_unknown=True),
    },
)
ZOO_SCHEMA = Schema(
    type="object",
    properties={
        "apiVersion": TEXT,
        "kind": TEXT,
        "metadata": SCHEMAS.named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
        "spec": SPEC,
        "status": Schema(type="object", properties={"phase": TEXT}),
    },
)

NOW = "2026-01-01T00:00:00Z"
LATER = "2026-01-01T00:00:07Z"


def managing(gvk: GroupVersionKind, *, subresource: str = "", **reset: FieldSet) -> FieldManager:
    """Return the field manager of a kind; ``reset`` contains the reset fields."""
    return FieldManager(
        gvk=gvk,
        schemas={gvk.api_version: ZOO_SCHEMA if gvk == ZOO else SCHEMAS.of(gvk)},
        subresource=subresource,
        reset={f"f:{name}": fields for name, fields in reset.items()},
    )


def config_map(**data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "it"},
        **({"data": data} if data else {}),
    }


def zoo(**spec: Any) -> Object:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Zoo",
        "metadata": {"name": "it"},
        **({"spec": spec} if spec else {}),
    }


def owned(obj: Object) -> dict[str, FieldSet]:
    """Return the fields by manager; a star marks a manager that applies."""
    return {
        entry["manager"] + ("*" if entry["operation"] == "Apply" else ""): entry["fieldsV1"]
        for entry in obj["metadata"].get("managedFields", ())
    }


def fields(*names: str, of: str = "data") -> FieldSet:
    """Return a set of fields of one map."""
    return {f"f:{of}": {f"f:{name}": {} for name in names}}
