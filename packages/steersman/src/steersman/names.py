"""Identifiers of kinds and resources, references to objects, and the rules for names.

A name that Kubernetes would reject raises ``BadName``, which contains the violated rule.
"""

import re
from typing import Final, NamedTuple

import msgspec

from steersman.errors import BadName

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_1035: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_VERSION: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


# Structs: every request creates and looks up some, and a frozen dataclass takes ten times as long
# to create or hash.


class GroupVersionKind(msgspec.Struct, frozen=True, order=True, gc=False):
    """A kind in one version of an API group; ``group`` is ``""`` for the core group."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """The apiVersion: ``apps/v1``, or ``v1`` in the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @classmethod
    def of(cls, api_version: str, kind: str) -> "GroupVersionKind":
        """Return the kind with the ``apiVersion`` ``api_version`` and the name ``kind``."""
        group, version = split_api_version(api_version)
        return cls(group, version, kind)

    def __str__(self) -> str:
        return f"{self.api_version} {self.kind}"


class GroupVersionResource(msgspec.Struct, frozen=True, order=True, gc=False):
    """A plural resource name in one version of an API group, as in request paths."""

    group: str
    version: str
    resource: str

    @property
    def api_version(self) -> str:
        """The apiVersion: ``apps/v1``, or ``v1`` in the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.api_version} {self.resource}"


class GroupResource(msgspec.Struct, frozen=True, order=True, gc=False):
    """A plural resource name in an API group, independent of the version."""

    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


class ResourceType(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A kind with its plural and its scope: all that is needed to build request paths."""

    gvk: GroupVersionKind
    plural: str
    namespaced: bool

    @property
    def gvr(self) -> GroupVersionResource:
        """The plural resource name with its API group and version."""
        return GroupVersionResource(self.gvk.group, self.gvk.version, self.plural)

    def __str__(self) -> str:
        return str(self.gvk)


class ObjectRef(msgspec.Struct, frozen=True, order=True, gc=False):
    """A reference to an object in readable form: ``Deployment default/web``."""

    kind: str
    namespace: str | None
    name: str

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {place}{self.name}"


class ObjectKey(NamedTuple):
    """The key of an object: its namespace (``None`` for a cluster-scoped object) and its name."""

    namespace: str | None
    name: str

    @classmethod
    def parse(cls, text: str) -> "ObjectKey":
        """Return the key for ``text``: ``default/web``, or ``web`` for a cluster-scoped object."""
        namespace, slash, name = text.rpartition("/")
        _require(
            name and "/" not in namespace and bool(namespace) == bool(slash),
            "an object's key",
            text,
            "it must be NAME or NAMESPACE/NAME",
        )
        return cls(namespace or None, name)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def split_api_version(api_version: str) -> tuple[str, str]:
    """Split ``api_version`` into API group and version.

    ``apps/v1`` is the group ``apps`` and the version ``v1``. ``v1`` is a version of the core group.
    """
    group, slash, version = api_version.rpartition("/")
    _require(
        _VERSION.fullmatch(version) and (_SUBDOMAIN.fullmatch(group) or not slash),
        "an apiVersion",
        api_version,
        "it must be VERSION or GROUP/VERSION, where VERSION is a DNS label that begins with a"
        " letter, and GROUP is a DNS subdomain",
    )
    return group, version


def plural_of(kind: str) -> str:
    """Return the plural of ``kind`` by the rules of spelling: ``Policy`` becomes ``policies``.

    The result is a guess, for kinds without a declared plural: ``Mouse`` becomes ``mouses``.
    """
    word = kind.lower()
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in set("aeiou"):
        return word[:-1] + "ies"
    return word + "s"


def check_group(group: str) -> str:
    """Return ``group`` if it is a custom API group: a DNS subdomain with at least one dot."""
    _require(
        _SUBDOMAIN.fullmatch(group) and len(group) <= 253 and "." in group,
        "an API group",
        group,
        "it must be a lower-case DNS name with at least one dot, such as app.example.com",
    )
    return group


def check_version(version: str) -> str:
    """Return ``version`` if it is a DNS label that begins with a letter: ``v1``, ``v1beta2``.

    ``version`` is a version of an API group.
    """
    _require(
        _VERSION.fullmatch(version) and len(version) <= 63,
        "an API version",
        version,
        "it must be a lower-case DNS label that begins with a letter, such as v1 or v1beta2",
    )
    return version


def check_kind(kind: str) -> str:
    """Return ``kind`` if it is a DNS label, in which upper-case letters are permitted too.

    Most kinds are CamelCase, but some are lower-case.
    """
    _require(
        kind.isascii()
        and kind[:1].isalpha()
        and kind[-1:] != "-"
        and kind.replace("-", "").isalnum()
        and len(kind) <= 63,
        "a kind",
        kind,
        "it must consist of at most 63 letters, digits and dashes, begin with a letter, and end"
        " with a letter or digit",
    )
    return kind


def check_class_kind(kind: str) -> str:
    """Return ``kind`` if it is CamelCase with letters and digits only.

    Such a kind can also be the name of a Python class.
    """
    _require(
        kind.isascii() and kind.isalnum() and kind[0].isupper() and len(kind) <= 63,
        "a kind",
        kind,
        "it must consist of at most 63 letters and digits, and begin with a capital letter",
    )
    return kind


def check_label(name: str, *, wanted: str = "a DNS label") -> str:
    """Return ``name`` if it is one DNS label, such as the name of a namespace.

    Otherwise raise ``BadName``; ``wanted`` says in its message what was expected.
    """
    if name not in _labels:
        if len(name) > 63 or not _LABEL.fullmatch(name):
            raise BadName(
                wanted=wanted,
                value=name,
                rule="it must consist of at most 63 lower-case letters, digits and dashes, and"
                " begin and end with a letter or digit",
            )
        _remember(name, _labels)
    return name


def check_plural(name: str, *, wanted: str = "a plural") -> str:
    """Return ``name`` if it can be a plural, singular or short name of a resource.

    Such a name is a DNS label that begins with a letter. Otherwise raise ``BadName``;
    ``wanted`` says in its message what was expected.
    """
    _require(
        _LABEL_1035.fullmatch(name) and len(name) <= 63,
        wanted,
        name,
        "it must consist of at most 63 lower-case letters, digits and dashes, begin with a letter,"
        " and end with a letter or digit",
    )
    return name


def check_subdomain(name: str, *, wanted: str = "an object's name") -> str:
    """Return ``name`` if it is a DNS subdomain, as the names of most objects are.

    Otherwise raise ``BadName``; ``wanted`` says in its message what was expected.
    """
    if name not in _subdomains:
        if len(name) > 253 or not _SUBDOMAIN.fullmatch(name):
            raise BadName(
                wanted=wanted,
                value=name,
                rule="it must consist of at most 253 lower-case letters, digits, dashes and dots,"
                " and each part between dots must begin and end with a letter or digit",
            )
        _remember(name, _subdomains)
    return name


def check_path_segment(name: str, *, wanted: str = "an object's name") -> str:
    """Return ``name`` if it is one segment of a path, the minimum rule for any object's name.

    The server enforces the further rules of each kind (an RBAC role may be named ``system:node``).
    This function only rejects names that would change the request path. The error is ``BadName``;
    ``wanted`` says in its message what was expected.
    """
    if name in ("", ".", "..") or "/" in name or "%" in name:
        raise BadName(
            wanted=wanted,
            value=name,
            rule="it must be one path segment: not empty, not . or .., and without / and %",
        )
    return name


def check_label_key(key: str) -> str:
    """Return ``key`` if it is a key of a label or annotation: ``name`` or ``prefix/name``."""
    if key not in _label_keys:
        prefix, slash, name = key.rpartition("/")
        if (
            len(name) > 63
            or not _QUALIFIED.fullmatch(name)
            or (slash and (len(prefix) > 253 or not _SUBDOMAIN.fullmatch(prefix)))
        ):
            raise BadName(
                wanted="a label key",
                value=key,
                rule="it must be NAME or PREFIX/NAME; NAME must consist of at most 63 letters,"
                " digits, -, _ and ., and begin and end with a letter or digit; PREFIX must be a"
                " DNS subdomain",
            )
        _remember(key, _label_keys)
    return key


def check_label_value(value: str) -> str:
    """Return ``value`` if it is a label value: empty, or a short word."""
    if value not in _label_values:
        if len(value) > 63 or (value and not _QUALIFIED.fullmatch(value)):
            raise BadName(
                wanted="a label value",
                value=value,
                rule="it must be empty, or consist of at most 63 letters, digits, -, _ and ., and"
                " begin and end with a letter or digit",
            )
        _remember(value, _label_values)
    return value


# The valid names and labels that were checked before, up to a limit for each kind of name. Sets
# need no order of last use; the entries are short, because longer ones are invalid.
_REMEMBERED: Final = 4096
_labels: Final[set[str]] = set()
_subdomains: Final[set[str]] = set()
_label_keys: Final[set[str]] = set()
_label_values: Final[set[str]] = set()


def _remember(name: str, good: set[str]) -> None:
    if len(good) >= _REMEMBERED:
        good.clear()
    good.add(name)


def _require(holds: object, wanted: str, value: str, rule: str) -> None:
    if not holds:
        raise BadName(wanted=wanted, value=value, rule=rule)
