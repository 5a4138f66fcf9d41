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
    """The type of ``UNSET``, which means that no value is given; ``None`` is a JSON null."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset()


# Without equality: types refer to themselves, and each use of one is a node of its own.
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
    holds_resource: bool = False  # it is an embedded resource, or has one inside
    preserve_unknown: bool = False

    # How it is merged. A list without a type is atomic, a map or struct granular.
    list_type: ListType = "atomic"
    list_map_keys: tuple[str, ...] = ()
    map_type: MapType = "granular"
    patch_strategies: tuple[str, ...] = ()  # "merge", "replace", "retainKeys"
    patch_merge_key: str | None = None

    # How Go would write it, for built-in types: what stands there when nothing was given, and
    # whether an empty value that was given goes away (a field that is not a pointer, "omitempty").
    absent: Any = UNSET
    drops_empty: bool = False
    pointer: bool = False  # a null is the same as nothing; otherwise it is the zero value
    # How Go's own messages name the type, the field, and the embedded struct that it comes from.
    go_type: str = ""  # "int32", "v1.PodSpec", "[]v1.Container"
    go_name: str = ""  # "HostPath"
    go_embedding: str = ""  # "VolumeSource."
    # Where protobuf has it: (2, 1) is field 1 of the message in field 2. Not there: nowhere.
    number: tuple[int, ...] = ()

    # What a custom resource's author wrote, for the rules about values: minimum, pattern, enum, …
    written: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Schema {self.name or self.type or 'anything'}>"
