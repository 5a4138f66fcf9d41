"""The values of a chart: their descriptions, defaults and schemas.

``values.yaml`` and ``values.schema.json`` are generated from one table, so they always contain the
same values.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Final, TypeAlias

from steersman.manifests.documents import yaml_of
from steersman.manifests.install import InstallManifests, parts_of
from steersman.manifests.installation import Installation

_WIDTH: Final = 100

_Schema: TypeAlias = Mapping[str, Any]

_STRING: Final[_Schema] = {"type": "string"}
_FLAG: Final[_Schema] = {"type": "boolean"}
_LABEL: Final = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"

# The server validates what belongs to the API of Kubernetes.
_OBJECT: Final[_Schema] = {"type": "object"}
_OBJECTS: Final[_Schema] = {"type": "array", "items": _OBJECT}
_WORDS: Final[_Schema] = {"type": "object", "additionalProperties": _STRING}


@dataclass(frozen=True, slots=True)
class _Value:
    about: str
    default: Any
    schema: _Schema
    # If ``null`` may remove the value, its key is omitted.
    is_optional: bool = False


_Table: TypeAlias = Mapping[str, "_Value | _Table"]


def values_text(installation: Installation, parts: InstallManifests) -> str:
    """Return ``values.yaml``, with a comment on each value."""
    head = (
        "Values of the chart, with their defaults. Names of objects begin with the release's name."
    )
    lines = [*_comment(head, 0), "", *_values(_table(installation, parts), 0)]
    return "\n".join(lines) + "\n"


def schema_text(installation: Installation, parts: InstallManifests) -> str:
    """Return ``values.schema.json``, by which Helm validates the values."""
    schema = _schema_of(_table(installation, parts))
    # A parent chart passes these values to its dependencies.
    schema["properties"]["global"] = _OBJECT
    schema["properties"]["enabled"] = _FLAG
    # The newest draft that all versions of Helm support.
    named = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    return json.dumps(named, indent=2, ensure_ascii=False) + "\n"


def split_image(image: str) -> tuple[str, str, str]:
    """Return repository, tag and digest; the tag and the digest may be empty."""
    name, _, digest = image.partition("@")
    # A colon before the last slash belongs to a port.
    folder, slash, last = name.rpartition("/")
    base, _, tag = last.partition(":")
    return folder + slash + base, tag, digest


def _table(installation: Installation, parts: InstallManifests) -> _Table:
    repository, tag, digest = split_image(installation.image)
    (container,) = parts.deployment["spec"]["template"]["spec"]["containers"]
    adds = _added(installation, parts)
    return {
        "image": {
            "repository": _Value("", repository, {**_STRING, "minLength": 1}),
            "tag": _Value("", tag, _STRING),
            "digest": _Value(
                "sha256:… If it is set, Kubernetes pulls this digest and ignores the tag.",
                digest,
                {**_STRING, "pattern": "^(sha256:[0-9a-f]{64})?$"},
            ),
            "pullPolicy": _Value(
                "If it is empty, the default of Kubernetes applies.",
                "",
                {"enum": ["", "Always", "IfNotPresent", "Never"]},
            ),
        },
        "imagePullSecrets": _Value(
            "Secrets with credentials for the image's registry, such as - name: registry",
            [],
            _OBJECTS,
            is_optional=True,
        ),
        "replicas": _Value(
            "Number of Pods. One of them is the leader; if it fails, another one takes over.",
            installation.replicas,
            {"type": "integer", "minimum": 0},
        ),
        "namespaces": _Value(
            "Namespaces that the operator manages; they must exist. If the list is empty, it"
            " manages all namespaces. It gets a Role in each namespace, or one ClusterRole.",
            list(dict.fromkeys(installation.namespaces)),
            {
                "type": "array",
                "items": {**_STRING, "pattern": f"^{_LABEL}$"},
                "uniqueItems": True,
            },
        ),
        "logLevel": _Value("", "info", {"enum": ["debug", "info", "warning", "error"]}),
        "env": _Value(
            "Additional environment variables. STEERSMAN_… are settings of the manager; to list"
            " them, run the image with --help.",
            adds["env"],
            _OBJECTS,
            is_optional=True,
        ),
        "resources": _Value("", container["resources"], _OBJECT, is_optional=True),
        "nodeSelector": _Value("", {}, _WORDS, is_optional=True),
        "tolerations": _Value("", [], _OBJECTS, is_optional=True),
        "affinity": _Value("", {}, _OBJECT, is_optional=True),
        "priorityClassName": _Value("", "", _STRING, is_optional=True),
        "podAnnotations": _Value(
            "", dict(installation.deploy.pod_annotations), _WORDS, is_optional=True
        ),
        "podLabels": _Value("", dict(installation.deploy.pod_labels), _WORDS, is_optional=True),
        "serviceAccount": {
            "create": _Value(
                "Whether to create the ServiceAccount; if not, it must exist.", True, _FLAG
            ),
            "name": _Value("If it is empty, the name of the Deployment.", "", _STRING),
            "annotations": _Value("", {}, _WORDS, is_optional=True),
        },
        "crds": {
            "enabled": _Value(
                "Whether the chart installs and upgrades the CustomResourceDefinitions of the"
                " operator.",
                True,
                _FLAG,
            ),
            "keep": _Value(
                "Whether they remain when the chart is uninstalled. Deleting a definition deletes"
                " all objects of its kind.",
                True,
                _FLAG,
            ),
        },
        "userRoles": {
            "enabled": _Value(
                "ClusterRoles that add the operator's kinds to the roles admin, edit and view.",
                True,
                _FLAG,
            ),
        },
        "metrics": {
            "enabled": _Value(
                "Metrics over HTTPS, for clients with permission to read them.",
                installation.metrics,
                _FLAG,
            ),
            "serviceMonitor": {
                "enabled": _Value(
                    "Requires the Prometheus Operator, which defines this kind.",
                    False,
                    _FLAG,
                ),
                "labels": _Value(
                    "Labels by which your Prometheus selects ServiceMonitors.",
                    {},
                    _WORDS,
                    is_optional=True,
                ),
            },
        },
        "networkPolicy": {
            "enabled": _Value(
                "Ingress: probes and metrics. Egress: DNS, the API server, and the rules below.",
                True,
                _FLAG,
            ),
            "egress": _Value(
                "Additional egress rules of the NetworkPolicy.",
                adds["egress"],
                _OBJECTS,
                is_optional=True,
            ),
        },
        "podDisruptionBudget": {
            "enabled": _Value("Limits evictions to one Pod at a time.", True, _FLAG),
        },
        "fullnameOverride": _Value(
            "Name of all objects, instead of a name that begins with the release's name.",
            "",
            {**_STRING, "pattern": "^([a-z]([-a-z0-9]{0,48}[a-z0-9])?)?$"},
        ),
    }


def _added(installation: Installation, parts: InstallManifests) -> dict[str, list[Any]]:
    """Return the variables and the egress rules that the operator author adds to ``parts``.

    ``parts`` are rendered without these additions.
    """
    whole = parts_of(installation)
    (container,) = whole.deployment["spec"]["template"]["spec"]["containers"]
    own = installation.settings.environ()
    usual = len(parts.network_policy["spec"]["egress"])
    return {
        "env": [each for each in container["env"] if each["name"] not in own],
        "egress": list(whole.network_policy["spec"]["egress"][usual:]),
    }


def _values(table: _Table, indent: int) -> Iterator[str]:
    pad = " " * indent
    for key, value in table.items():
        if isinstance(value, _Value):
            yield from _comment(value.about, indent)
            for line in yaml_of([{key: value.default}]).splitlines():
                yield pad + line
        else:
            yield f"{pad}{key}:"
            yield from _values(value, indent + 2)
        if not indent:
            yield ""


def _comment(text: str, indent: int) -> Iterator[str]:
    start = " " * indent + "# "
    for line in wrap(text, _WIDTH - len(start)):
        yield start + line


def _schema_of(table: _Table) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, _Value):
            about = {"description": value.about} if value.about else {}
            properties[key] = {**about, **value.schema}
        else:
            properties[key] = _schema_of(value)
    required = [
        key
        for key, value in table.items()
        if not isinstance(value, _Value) or not value.is_optional
    ]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        # A misspelled name would otherwise be ignored silently.
        "additionalProperties": False,
    }
