"""A schema as the server uses it: compiled once, traversed for every request.

Built-in and custom kinds have the same nodes. There is therefore one implementation each of
validation, defaults, pruning, patches and server-side apply.
"""

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

Type: TypeAlias = Literal["object", "array", "string", "integer", "number", "boolean"]
ListType: TypeAlias = Literal["atomic", "set", "map"]
MapType: TypeAlias = Literal["granular", "atomic"]


class Unset:
    """The type of ``UNSET``, which means that a value is missing; ``None`` is a JSON null."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset()


# Without equality: types may contain themselves, and each use of a type is a separate node.
@dataclass(slots=True, kw_only=True, eq=False)
class Schema:
    """The schema of a value: its type, and how it is merged, defaulted and encoded.

    A schema must not be changed once it is built. Only the builders set ``properties`` afterwards,
    because a type may contain itself.
    """

    type: Type | None = None  # None: anything
    format: str | None = None  # "int32", "date-time", "byte", "quantity", "int-or-string", …
    name: str | None = None  # of a built-in type: "io.k8s.api.core.v1.Container"

    properties: "dict[str, Schema]" = field(default_factory=dict)
    required: tuple[str, ...] = ()
    additional: "Schema | None" = None  # the values of a map
    items: "Schema | None" = None
    default: Any = UNSET

    nullable: bool = False
    int_or_string: bool = False
    embedded_resource: bool = False
    holds_resource: bool = False  # it is or contains an embedded resource
    preserve_unknown: bool = False

    # For server-side apply and strategic merge patches. A list without a type is atomic, a map or
    # struct granular.
    list_type: ListType = "atomic"
    list_map_keys: tuple[str, ...] = ()
    map_type: MapType = "granular"
    patch_strategies: tuple[str, ...] = ()  # "merge", "replace", "retainKeys"
    patch_merge_key: str | None = None

    # For built-in types, as Go encodes them: the value of an absent field, and whether an empty
    # value is omitted (`omitempty` on a field that is not a pointer).
    absent: Any = UNSET
    drops_empty: bool = False
    pointer: bool = False  # null is the same as absent; otherwise it is the zero value
    # The names in Go's error messages: of the type, the field, and the embedded struct.
    go_type: str = ""  # "int32", "v1.PodSpec", "[]v1.Container"
    go_name: str = ""  # "HostPath"
    go_embedding: str = ""  # "VolumeSource."
    # The protobuf field: (2, 1) is field 1 of the message in field 2. Empty: not encoded.
    number: tuple[int, ...] = ()

    # The schema in the CustomResourceDefinition, for value validation: minimum, pattern, enum, …
    written: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Schema {self.name or self.type or 'anything'}>"
