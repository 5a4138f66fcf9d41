"""``[tool.steersman.deploy]`` and ``[tool.steersman.bundle]`` of a project, read and checked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

from steersman.kinds import core_v1, meta_v1, networking_v1
from steersman.manifests import LIMITS, REQUESTS, DeploySettings, ExtraRule
from steersman.names import check_label, check_label_key, check_label_value, check_subdomain
from steersman.scaffold.table import TomlTable
from steersman.units import Quantity

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_VARIABLE: Final = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_KEY: Final = re.compile(r"[-._a-zA-Z0-9]+")
_VERB: Final = re.compile(r"\*|[a-z]+")
_RESOURCE: Final = re.compile(r"\*|(\*|[a-z0-9-]+)(/(\*|[a-z0-9-]+))?")
_FIELD: Final = re.compile(
    r"metadata\.(name|namespace|uid)|metadata\.(labels|annotations)\['[^']+'\]"
    r"|spec\.(nodeName|serviceAccountName)|status\.(hostIP|hostIPs|podIP|podIPs)"
)
_PORT: Final = re.compile(r"(?P<first>\d+)(-(?P<last>\d+))?(/(?P<protocol>TCP|UDP|SCTP))?")
_MASKED: Final = re.compile(r".*/\d{1,3}")
_RELEASE: Final = re.compile(r"[0-9][-+.0-9A-Za-z]*")
_CHANNEL: Final = re.compile(r"[a-zA-Z0-9]([-._a-zA-Z0-9]*[a-zA-Z0-9])?")
_LAST_PORT: Final = 65535

# The installation or Kubernetes sets these labels, and selects by them.
_OWN_LABELS: Final = frozenset(
    {"app.kubernetes.io/name", "app.kubernetes.io/version", "app.kubernetes.io/component"}
)

# The installation sets these, from the project or for the objects that it installs.
_OWN_VARIABLES: Final = frozenset(
    f"STEERSMAN_{each}"
    for each in ("NAMESPACES", "LEASE_NAME", "HEALTH_ADDRESS", "METRICS_ADDRESS", "LOG_STYLE")
)

# The resources that a container may request, besides those of vendors, which have a slash.
_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")
_HUGE_PAGES: Final = "hugepages-"

# The label with the namespace's own name.
_NAMESPACE_LABEL: Final = "kubernetes.io/metadata.name"

_SOURCES: Final = ("secret", "config_map", "field")

# The image types that catalogs show.
_MEDIA_TYPES: Final = {
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployTable:
    """The settings of ``[tool.steersman.deploy]``."""

    replicas: int | None = None
    digest: str | None = None
    settings: DeploySettings = DeploySettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleTable:
    """The settings of ``[tool.steersman.bundle]``.

    The icon is a path, which is read when a bundle is built.
    """

    channel: str | None = None
    replaces: str | None = None
    icon: tuple[str, Path] | None = None  # media type and file


def deploy_table(table: TomlTable) -> DeployTable:
    """Read and check ``table``, which is ``[tool.steersman.deploy]``."""
    resources = table.table("resources")
    metadata = table.table("metadata")
    read = DeployTable(
        replicas=table.number("replicas", least=1),
        digest=_matching(table, "digest", _DIGEST, "sha256: followed by 64 hexadecimal digits"),
        settings=DeploySettings(
            env=_env(table.table("env")),
            requests=_amounts(resources, "requests"),
            limits=_amounts(resources, "limits"),
            egress=tuple(map(_egress, table.tables("egress"))) if "egress" in table else None,
            rules=tuple(map(_rule, table.tables("rules"))),
            labels=_labels(metadata, "labels"),
            annotations=_annotations(metadata, "annotations"),
            pod_labels=_labels(metadata, "pod_labels"),
            pod_annotations=_annotations(metadata, "pod_annotations"),
        ),
    )
    _check_limits(resources, read.settings)
    for each in (resources, metadata, table):
        each.finish()
    return read


def bundle_table(table: TomlTable, *, directory: Path) -> BundleTable:
    """Read and check ``table``, which is ``[tool.steersman.bundle]``.

    The path of the icon is relative to ``directory``.
    """
    icon = table.text("icon")
    read = BundleTable(
        channel=_matching(table, "channel", _CHANNEL, "made of letters, digits, dots and dashes"),
        replaces=_matching(table, "replaces", _RELEASE, "a version such as 1.2.0"),
        icon=None if icon is None else _icon(table, directory / icon),
    )
    table.finish()
    return read


def _icon(table: TomlTable, path: Path) -> tuple[str, Path]:
    if path.suffix.lower() not in _MEDIA_TYPES:
        raise table.bad(
            "icon", f"{path.name} is not a file of type {', '.join(sorted(_MEDIA_TYPES))}"
        )
    if not path.is_file():
        raise table.bad("icon", f"the file {path} does not exist")
    return _MEDIA_TYPES[path.suffix.lower()], path


def _matching(table: TomlTable, key: str, pattern: re.Pattern[str], rule: str) -> str | None:
    value = table.text(key)
    if value is not None and not pattern.fullmatch(value):
        raise table.bad(key, f"{value!r} is not {rule}")
    return value


# env


def _env(table: TomlTable) -> tuple[core_v1.EnvVar, ...]:
    return tuple(_variable(table, name, value) for name, value in table.entries())


def _variable(table: TomlTable, name: str, value: Any) -> core_v1.EnvVar:
    if not _VARIABLE.fullmatch(name):
        raise table.bad(
            name,
            "the name of a variable may contain only letters, digits, dashes, dots, underscores",
        )
    if name in _OWN_VARIABLES:
        raise table.bad(name, "the installation sets this variable itself")
    if isinstance(value, str):
        return core_v1.EnvVar(name=name, value=value)
    given = [each for each in _SOURCES if each in value] if isinstance(value, Mapping) else []
    if len(given) != 1:
        sources = ", ".join(_SOURCES)
        raise table.bad(name, f"{value!r} is not a string, or a table with one of {sources}")
    inside = TomlTable(table.path, f"{table.key}.{name}", value)
    source = _source(inside, given[0])
    inside.finish()
    return core_v1.EnvVar(name=name, value_from=source)


def _source(table: TomlTable, source: str) -> core_v1.EnvVarSource:
    if source == "field":
        path = _matching(table, "field", _FIELD, "a field of a Pod that a variable can refer to")
        return core_v1.EnvVarSource(field_ref=core_v1.ObjectFieldSelector(field_path=path or ""))
    name = table.text(source) or ""
    table.check(source, check_subdomain, name)
    key = _matching(table, "key", _KEY, "made of letters, digits, dashes, dots and underscores")
    if key is None:
        raise table.bad("key", f"it is missing; set it to a key of the {source}")
    optional = table.flag("optional") or None
    if source == "secret":
        return core_v1.EnvVarSource(
            secret_key_ref=core_v1.SecretKeySelector(name=name, key=key, optional=optional)
        )
    return core_v1.EnvVarSource(
        config_map_key_ref=core_v1.ConfigMapKeySelector(name=name, key=key, optional=optional)
    )


def _amounts(table: TomlTable, key: str) -> dict[str, Quantity]:
    inside = table.table(key)
    return {name: _amount(inside, name, value) for name, value in inside.entries()}


def _amount(table: TomlTable, name: str, value: Any) -> Quantity:
    text = table.word(name, value)
    if "/" not in name and name not in _RESOURCES and not name.startswith(_HUGE_PAGES):
        raise table.bad(name, f"it is not {' or '.join(_RESOURCES)}, and has no vendor's domain")
    try:
        amount = Quantity(text)
    except ValueError as error:
        raise table.bad(name, f"{text!r} is not an amount such as 500m or 128Mi") from error
    if amount < Quantity("0"):
        raise table.bad(name, f"{text!r} is negative")
    return amount


def _check_limits(table: TomlTable, settings: DeploySettings) -> None:
    requests, limits = {**REQUESTS, **settings.requests}, {**LIMITS, **settings.limits}
    for name, amount in requests.items():
        if name in limits and limits[name] < amount:
            raise table.bad(
                f"limits.{name}" if name in settings.limits else f"requests.{name}",
                f"the request, {amount}, is greater than the limit, {limits[name]}",
            )


# egress


def _egress(table: TomlTable) -> networking_v1.NetworkPolicyEgressRule:
    ports = tuple(_port(table, number, each) for number, each in enumerate(table.items("ports")))
    peer = _peer(table)
    table.finish()
    return networking_v1.NetworkPolicyEgressRule(
        ports=ports or None, to=None if peer is None else (peer,)
    )


def _port(table: TomlTable, number: int, value: Any) -> networking_v1.NetworkPolicyPort:
    key = f"ports[{number}]"
    found = _PORT.fullmatch(str(value)) if type(value) in (int, str) else None
    if found is None:
        raise table.bad(key, f"{value!r} is not a port such as 5432, '8000-8010' or '53/UDP'")
    first, last = int(found["first"]), int(found["last"] or found["first"])
    if not 1 <= first <= last <= _LAST_PORT:
        raise table.bad(key, f"{value!r} is not between 1 and {_LAST_PORT}")
    return networking_v1.NetworkPolicyPort(
        port=first,
        end_port=last if found["last"] else None,
        protocol=found["protocol"] or "TCP",
    )


def _peer(table: TomlTable) -> networking_v1.NetworkPolicyPeer | None:
    cidr, excepted = table.text("cidr"), table.texts("except")
    namespace, pods = table.text("namespace"), _labels(table, "pods")
    if cidr is not None:
        if namespace is not None or pods:
            raise table.bad("cidr", "set either cidr, or namespace and pods, but not both")
        return networking_v1.NetworkPolicyPeer(ip_block=_block(table, cidr, excepted))
    if excepted:
        raise table.bad("except", "it needs a cidr, which is missing")
    if namespace is None and not pods:
        return None
    namespaces = meta_v1.LabelSelector()
    if namespace is not None:
        table.check("namespace", check_label, namespace)
        namespaces = meta_v1.LabelSelector(match_labels={_NAMESPACE_LABEL: namespace})
    return networking_v1.NetworkPolicyPeer(
        namespace_selector=namespaces,
        pod_selector=meta_v1.LabelSelector(match_labels=pods) if pods else None,
    )


def _block(table: TomlTable, cidr: str, excepted: tuple[str, ...]) -> networking_v1.IPBlock:
    def network(key: str, text: str) -> Any:
        if not _MASKED.fullmatch(text):
            raise table.bad(key, f"{text!r} is not a CIDR such as 10.0.0.0/8")
        try:
            return ip_network(text)
        except ValueError as error:
            raise table.bad(key, f"{text!r} is not a CIDR: {error}") from error

    whole = network("cidr", cidr)
    for number, each in enumerate(excepted):
        inside = network(f"except[{number}]", each)
        if inside.version != whole.version or not inside.subnet_of(whole) or inside == whole:
            raise table.bad(f"except[{number}]", f"{each} is not a smaller range inside {cidr}")
    return networking_v1.IPBlock(cidr=cidr, except_=excepted or None)


# rules


def _rule(table: TomlTable) -> ExtraRule:
    resources, verbs = table.texts("resources"), table.texts("verbs")
    for key, values, pattern in (("resources", resources, _RESOURCE), ("verbs", verbs, _VERB)):
        if not values:
            raise table.bad(key, "it is missing")
        for number, each in enumerate(values):
            if not pattern.fullmatch(each):
                raise table.bad(f"{key}[{number}]", f"{each!r} is not valid in an RBAC rule")
    groups = table.texts("groups")
    for number, each in enumerate(groups):
        if each not in ("", "*"):
            table.check(f"groups[{number}]", check_subdomain, each)
    read = ExtraRule(
        groups=groups or ("",),
        resources=resources,
        verbs=verbs,
        names=table.texts("names"),
        everywhere=table.flag("everywhere"),
    )
    table.finish()
    return read


# metadata


def _labels(table: TomlTable, key: str) -> dict[str, str]:
    found = table.words(key)
    for name, value in found.items():
        where = f"{key}.{name}"
        table.check(where, check_label_key, name)
        table.check(where, check_label_value, value)
        if name in _OWN_LABELS and key != "pods":
            raise table.bad(where, "the installation sets this label itself")
    return found


def _annotations(table: TomlTable, key: str) -> dict[str, str]:
    found = table.words(key)
    for name in found:
        table.check(f"{key}.{name}", check_label_key, name)
    return found
