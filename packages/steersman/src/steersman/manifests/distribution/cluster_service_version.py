"""The ClusterServiceVersion of a bundle: how OLM installs an operator, and how catalogs show it.

An operator for the entire cluster is installed for all namespaces. A namespaced operator is
installed for the namespaces of an OperatorGroup: OLM grants the rules under ``permissions`` in each
of these namespaces and writes their names into an annotation, from which the operator reads them.
So a bundle does not contain the namespaces of the installation.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from steersman.controller import Controller
from steersman.errors import BadName, BadValue
from steersman.kinds import CustomResource
from steersman.manifests.definition.sample import sample_of
from steersman.manifests.distribution.catalog import (
    is_mature,
    oldest_kubernetes,
    summary_of,
    title_of,
)
from steersman.manifests.distribution.scopes import SOME_NAMESPACE, in_each
from steersman.manifests.documents import Document
from steersman.manifests.install import InstallManifests, parts_of
from steersman.manifests.installation import Installation

# It is also the value of a label.
_MAX_NAME_LENGTH: Final = 63
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

_TARGETS: Final = "metadata.annotations['olm.targetNamespaces']"

_UI: Final = "urn:alm:descriptor:com.tectonic.ui"
_WIDGETS: Final = {"boolean": "booleanSwitch", "integer": "number", "number": "number"}


def cluster_service_version(
    installation: Installation,
    parts: InstallManifests,
    *,
    replaces: str | None,
    icon: tuple[str, bytes] | None,
) -> Document:
    """Return the ClusterServiceVersion of the operator.

    ``replaces`` is the version that this version replaces. ``icon`` is a media type with the bytes
    of an image.
    """
    if replaces == installation.version:
        raise BadValue(
            wanted="a version that is replaced",
            value=replaces,
            rule="it must be an earlier version than that of the bundle",
        )
    spec: dict[str, Any] = {
        "displayName": title_of(installation),
        "description": installation.description.strip() or summary_of(installation),
        "version": installation.version,
        "maturity": "stable" if is_mature(installation) else "alpha",
        "minKubeVersion": oldest_kubernetes(parts.crds),
        "keywords": ["operator"],
        "provider": {"name": _provider(installation)},
        # Catalogs reject operators without a contact.
        "maintainers": [
            {"name": name, "email": email} for name, email in installation.maintainers if email
        ],
        "icon": _icon(icon),
        "replaces": _csv_name(installation.name, replaces) if replaces else None,
        "relatedImages": [{"name": "operator", "image": installation.image}],
        "customresourcedefinitions": {
            "owned": [
                _owned(installation, crd, version) for crd in parts.crds for version in _served(crd)
            ]
        },
        "installModes": _install_modes(installation),
        "install": {"strategy": "deployment", "spec": _strategy(installation, parts)},
    }
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "name": _csv_name(installation.name, installation.version),
            **({"labels": dict(installation.deploy.labels)} if installation.deploy.labels else {}),
            "annotations": {
                **installation.deploy.annotations,
                "alm-examples": _examples(parts.crds),
                "capabilities": "Basic Install",
                "containerImage": installation.image,
                "description": summary_of(installation),
                "operatorframework.io/suggested-namespace": installation.namespace,
            },
        },
        "spec": {key: value for key, value in spec.items() if value},
    }


def _csv_name(name: str, version: str) -> str:
    full = f"{name}.v{version.lower().replace('+', '-')}"
    if not _NAME.fullmatch(full) or len(full) > _MAX_NAME_LENGTH:
        raise BadName(
            wanted="the name of a ClusterServiceVersion",
            value=full,
            rule=f"it must be NAME.vVERSION, consist of at most {_MAX_NAME_LENGTH} letters, digits,"
            " dashes and dots, and end with a letter or digit",
        )
    return full


def _provider(installation: Installation) -> str:
    names = (name for name, _ in installation.maintainers if name)
    return next(names, title_of(installation))


def _icon(icon: tuple[str, bytes] | None) -> list[dict[str, str]]:
    if icon is None:
        return []
    media_type, image = icon
    return [{"base64data": b64encode(image).decode(), "mediatype": media_type}]


# The kinds that the operator manages


def _served(crd: Document) -> Iterator[Mapping[str, Any]]:
    return (version for version in crd["spec"]["versions"] if version["served"])


def _examples(crds: Iterable[Document]) -> str:
    samples = [sample_of(crd, version["name"]) for crd in crds for version in _served(crd)]
    return json.dumps(samples, indent=2, ensure_ascii=False)


def _owned(installation: Installation, crd: Document, version: Mapping[str, Any]) -> dict[str, Any]:
    kind = crd["spec"]["names"]["kind"]
    schema = version["schema"]["openAPIV3Schema"]
    scale = version.get("subresources", {}).get("scale", {})
    fields = schema.get("properties", {})
    owned = {
        "name": crd["metadata"]["name"],
        "version": version["name"],
        "kind": kind,
        "displayName": _spaced(kind),
        "description": schema.get("description") or f"{_spaced(kind)}.",
        "resources": list(_made_for(installation.controllers, crd)),
        "specDescriptors": [
            _described(path, field, _widgets(f".spec.{path}", field, scale))
            for path, field in _fields_of(fields.get("spec"))
        ],
        "statusDescriptors": [
            _described(path, field, _status_widgets(path))
            for path, field in _fields_of(fields.get("status"))
        ],
    }
    return {key: value for key, value in owned.items() if value}


def _made_for(controllers: Iterable[Controller[Any]], crd: Document) -> Iterator[dict[str, str]]:
    group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
    for controller in controllers:
        of = controller.kind.resource_type.gvk
        if (of.group, of.kind) == (group, kind):
            for owned in controller.owned:
                made = owned.kind.resource_type
                # For built-in kinds, kind and version are enough.
                is_custom = issubclass(owned.kind, CustomResource)
                name = f"{made.plural}.{made.gvk.group}" if is_custom else ""
                yield {"kind": made.gvk.kind, "name": name, "version": made.gvk.version}


def _fields_of(schema: Mapping[str, Any] | None) -> Iterable[tuple[str, Mapping[str, Any]]]:
    fields: Mapping[str, Mapping[str, Any]] = (schema or {}).get("properties", {})
    return fields.items()


def _described(path: str, field: Mapping[str, Any], widgets: Iterable[str]) -> dict[str, Any]:
    described = {
        "path": path,
        "displayName": field.get("title") or _spaced(path),
        "description": field.get("description"),
        "x-descriptors": list(widgets),
    }
    return {key: value for key, value in described.items() if value}


def _widgets(path: str, field: Mapping[str, Any], scale: Mapping[str, Any]) -> Iterator[str]:
    """Yield the form widgets for the field."""
    if path == scale.get("specReplicasPath"):
        yield f"{_UI}:podCount"
    elif field.get("enum"):
        yield from (f"{_UI}:select:{word}" for word in field["enum"] if word is not None)
    elif widget := _WIDGETS.get(field.get("type", "")):
        yield f"{_UI}:{widget}"
    elif field.get("type") == "string":
        yield f"{_UI}:text"


def _status_widgets(path: str) -> Iterator[str]:
    if path == "conditions":
        yield "urn:alm:descriptor:io.kubernetes.conditions"


def _spaced(name: str) -> str:
    """Return ``AppService`` and ``appService`` as ``App Service``."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+", name)
    return " ".join(word[:1].upper() + word[1:] for word in words) or name


# The installation


def _install_modes(installation: Installation) -> list[dict[str, Any]]:
    everywhere = not installation.namespaces
    modes = {
        "OwnNamespace": not everywhere,
        "SingleNamespace": not everywhere,
        "MultiNamespace": not everywhere,
        "AllNamespaces": everywhere,
    }
    return [{"type": mode, "supported": supported} for mode, supported in modes.items()]


def _strategy(installation: Installation, parts: InstallManifests) -> dict[str, Any]:
    here, cluster = _rules(installation, parts)
    deployment, spec = parts.deployment, parts.deployment["spec"]
    strategy: dict[str, Any] = {
        "deployments": [
            {
                "name": deployment["metadata"]["name"],
                "label": deployment["metadata"]["labels"],
                "spec": _with_targets(spec) if installation.namespaces else spec,
            }
        ]
    }
    account = parts.account["metadata"]["name"]
    for key, rules in (("permissions", here), ("clusterPermissions", cluster)):
        if rules:
            strategy[key] = [{"serviceAccountName": account, "rules": rules}]
    return strategy


def _rules(installation: Installation, parts: InstallManifests) -> tuple[list[Any], list[Any]]:
    """Return the namespaced rules and the cluster-wide rules.

    OLM grants the namespaced rules in each target namespace and in the operator's own namespace.
    """
    if installation.namespaces:
        parts = parts_of(in_each(installation))
    here: list[Any] = []
    cluster: list[Any] = []
    for grant in (*parts.grants, *parts.metrics_grants):
        place = grant["metadata"].get("namespace")
        # OLM cannot grant a role in another namespace, such as for events in "default" about
        # cluster-scoped objects. Granting it cluster-wide is the lesser evil.
        is_here = place in (installation.namespace, SOME_NAMESPACE)
        (here if is_here else cluster).extend(grant.get("rules", ()))
    return here, cluster


def _with_targets(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Deployment spec with the target namespaces read from OLM's annotation."""
    template = spec["template"]
    (container,) = template["spec"]["containers"]
    env = [
        {"name": each["name"], "valueFrom": {"fieldRef": {"fieldPath": _TARGETS}}}
        if each["name"] == "STEERSMAN_NAMESPACES"
        else each
        for each in container["env"]
    ]
    pod = {**template["spec"], "containers": [{**container, "env": env}]}
    return {**spec, "template": {**template, "spec": pod}}
