"""``Crd``: the settings of a kind's CustomResourceDefinition, except its schema.

Written in the class statement: ``class App(CustomResource[Spec, Status], group=..., version=...,
crd=Crd(short_names=("app",)))``. ``crd=None`` marks a kind that another project defines.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, Protocol, TypeAlias, get_args

import msgspec

from steersman.names import ResourceType, check_kind, check_plural

ColumnType: TypeAlias = Literal["integer", "number", "string", "boolean", "date"]
ColumnFormat: TypeAlias = Literal[
    "int32", "int64", "float", "double", "byte", "date", "date-time", "password"
]

_COLUMN_TYPES: Final = get_args(ColumnType)
_COLUMN_FORMATS: Final = get_args(ColumnFormat)

# Limits of the API server.
_MAX_SELECTABLE_FIELDS: Final = 8
_MAX_WARNING_BYTES: Final = 256


class Column(msgspec.Struct, frozen=True):
    """A column of ``kubectl get``, which shows the field at ``path``.

    By default, the column has the type of that field. A column with a ``priority`` above zero is
    shown with ``-o wide`` only.
    """

    name: str
    path: str
    type: ColumnType | None = None
    format: ColumnFormat | None = None
    description: str | None = None
    priority: int = 0

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError(f"name of a Column must not be blank, got {self.name!r}")
        _check_path("path of a Column", self.path)
        if self.type is not None and self.type not in _COLUMN_TYPES:
            raise ValueError(
                f"type of a Column must be one of {', '.join(_COLUMN_TYPES)}, got {self.type!r}"
            )
        if self.format is not None and self.format not in _COLUMN_FORMATS:
            raise ValueError(
                f"format of a Column must be one of {', '.join(_COLUMN_FORMATS)},"
                f" got {self.format!r}"
            )


class ScalePaths(msgspec.Struct, frozen=True, kw_only=True):
    """The paths of the desired and actual number of replicas, for the subresource ``scale``.

    ``selector`` is the path of a string that contains the label selector of the Pods, for
    autoscalers.
    """

    spec: str
    status: str
    selector: str | None = None

    def __post_init__(self) -> None:
        for name, path, roots in (
            ("spec", self.spec, (".spec.",)),
            ("status", self.status, (".status.",)),
            ("selector", self.selector, (".spec.", ".status.")),
        ):
            if path is not None and (not path.startswith(roots) or "[" in path):
                raise ValueError(
                    f"{name} of ScalePaths must begin with {' or '.join(roots)} and must not"
                    f" contain a list index, got {path!r}"
                )


class KindVersion(Protocol):
    """The class of one version of a kind, a subclass of ``Resource``."""

    resource_type: ClassVar[ResourceType]
    declared_crd: "ClassVar[Crd | None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crd:
    """The settings of a kind's CustomResourceDefinition, except its schema.

    The class with ``crd=`` is the storage version; ``also_serves`` lists the classes of the other
    versions. ``deprecated`` is the warning to users of this version, or ``True`` for the default
    warning. ``approved`` is the URL of the API approval, which groups under ``k8s.io`` need.
    """

    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    singular: str | None = None
    list_kind: str | None = None
    columns: tuple[Column, ...] = ()
    scale: ScalePaths | None = None
    selectable_fields: tuple[str, ...] = ()
    served: bool = True
    deprecated: str | bool = False
    also_serves: "tuple[type[KindVersion], ...]" = ()
    approved: str | None = None

    def __post_init__(self) -> None:
        for field in ("short_names", "categories", "selectable_fields"):
            # A string is a sequence of characters.
            if isinstance(text := getattr(self, field), str):
                raise ValueError(f"{field} must be a tuple, such as ({text!r},), got {text!r}")
        for name in self.short_names:
            check_plural(name, wanted="a short name")
        for name in self.categories:
            check_plural(name, wanted="a category")
        if self.singular is not None:
            check_plural(self.singular, wanted="a singular")
        if self.list_kind is not None:
            check_kind(self.list_kind)
        for path in self.selectable_fields:
            _check_path("a selectable field", path)
        if len(self.selectable_fields) > _MAX_SELECTABLE_FIELDS:
            raise ValueError(
                f"a kind can have at most {_MAX_SELECTABLE_FIELDS} selectable fields,"
                f" got {len(self.selectable_fields)}"
            )
        for what, names in (
            ("short names", self.short_names),
            ("categories", self.categories),
            ("columns", tuple(column.name for column in self.columns)),
            ("selectable fields", self.selectable_fields),
        ):
            if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
                raise ValueError(f"the {what} of a Crd contain a duplicate: {', '.join(twice)}")
        self._check_warning()

    def _check_warning(self) -> None:
        warning = self.deprecated
        if isinstance(warning, bool):
            return
        if not warning or not warning.isprintable() or len(warning.encode()) > _MAX_WARNING_BYTES:
            raise ValueError(
                f"deprecated must be True, or one printable line of at most {_MAX_WARNING_BYTES}"
                f" bytes, got {warning!r}"
            )


def check_crd(name: str, crd: Any, resource_type: ResourceType) -> Crd | None:
    """Return ``crd``, the value of ``crd=`` in the statement of class ``name``, if valid."""
    if crd is None:
        return None
    if not isinstance(crd, Crd):
        raise TypeError(
            f"{name}: crd must be a Crd, or None if another project defines the kind,"
            f" got an object of {type(crd).__name__}"
        )
    versions = [resource_type.gvk.version]
    for other in crd.also_serves:
        theirs: ResourceType = other.resource_type
        versions.append(theirs.gvk.version)
        if _without_version(theirs) != _without_version(resource_type):
            raise TypeError(
                f"{name}: also_serves contains {other.__name__}, which is {theirs}, but all"
                f" versions must have the same group, kind, plural and scope"
            )
        _check_other_version(name, other.__name__, getattr(other, "declared_crd", None))
    if twice := [version for version in dict.fromkeys(versions) if versions.count(version) > 1]:
        raise TypeError(
            f"{name}: the class and its also_serves contain the version {twice[0]} more than once"
        )
    return crd


def _check_other_version(name: str, other: str, crd: Crd | None) -> None:
    if crd is None:
        return
    for keyword in ("also_serves", "short_names", "categories", "singular", "list_kind"):
        if getattr(crd, keyword):
            raise TypeError(
                f"{name}: also_serves contains {other}, which sets {keyword}; set it on {name}"
                f" only, because all versions share it"
            )


def _without_version(resource_type: ResourceType) -> tuple[str, str, str, bool]:
    gvk = resource_type.gvk
    return gvk.group, gvk.kind, resource_type.plural, resource_type.namespaced


def _check_path(what: str, path: str) -> None:
    if not path.startswith(".") or path == ".":
        raise ValueError(f"{what} must begin with a dot, as in .spec.size, got {path!r}")
