"""An installation as a bundle for catalogs of the Operator Lifecycle Manager (``registry+v1``).

    bundle.Dockerfile                          an image that contains only the files below
    metadata/annotations.yaml
    manifests/
      NAME.clusterserviceversion.yaml          the operator: what it is, needs and manages
      PLURAL.GROUP.crd.yaml                    one file for each CRD
      *.yaml                                   the other objects that a bundle may contain

OLM creates the objects that the ClusterServiceVersion describes: the Deployment, the service
account, the roles and their bindings. Three other objects are not in a bundle: the Namespace,
because the Subscription determines it; the NetworkPolicy, because some OLM versions that are still
in use reject it; and the ServiceMonitor, because without a Prometheus operator it would make the
entire installation fail.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from steersman.manifests.distribution.catalog import is_mature
from steersman.manifests.distribution.cluster_service_version import cluster_service_version
from steersman.manifests.documents import GENERATED, Document, yaml_of
from steersman.manifests.files import Tree
from steersman.manifests.install import InstallManifests, parts_of
from steersman.manifests.installation import Installation

_HEAD: Final = f"# {GENERATED}\n"

_PREFIX: Final = "operators.operatorframework.io.bundle"


def bundle_tree(
    installation: Installation,
    *,
    channel: str | None = None,
    replaces: str | None = None,
    icon: tuple[str, bytes] | None = None,
) -> Tree:
    """Return the files of a bundle, whose directory is the context of its image build.

    ``replaces`` is the version that this version replaces. ``icon`` is a media type with the bytes
    of an image. An argument that is not given is taken from ``installation.bundle``. If neither
    sets the channel, it is ``candidate`` for a prerelease and for a version before 1.0, and
    otherwise ``stable``.
    """
    parts = parts_of(installation)
    settings = installation.bundle
    offered_in = (
        channel or settings.channel or ("stable" if is_mature(installation) else "candidate")
    )
    annotations = {
        f"{_PREFIX}.mediatype.v1": "registry+v1",
        f"{_PREFIX}.manifests.v1": "manifests/",
        f"{_PREFIX}.metadata.v1": "metadata/",
        f"{_PREFIX}.package.v1": installation.name,
        f"{_PREFIX}.channels.v1": offered_in,
        f"{_PREFIX}.channel.default.v1": offered_in,
    }
    csv = cluster_service_version(
        installation, parts, replaces=replaces or settings.replaces, icon=icon or settings.icon
    )
    documents = {
        f"{installation.name}.clusterserviceversion": csv,
        **{f"{crd['metadata']['name']}.crd": crd for crd in parts.crds},
        **{
            f"{each['metadata']['name']}.{each['kind'].lower()}": _anywhere(each)
            for each in _beside(parts)
        },
    }
    return {
        "bundle.Dockerfile": _dockerfile(annotations),
        "metadata/annotations.yaml": _HEAD + yaml_of([{"annotations": annotations}]),
        **{
            f"manifests/{name}.yaml": _HEAD + yaml_of([document])
            for name, document in documents.items()
        },
    }


def _beside(parts: InstallManifests) -> Iterable[Document]:
    maybe = (
        parts.metrics_reader,
        *parts.user_roles,
        parts.disruption_budget,
        parts.metrics_service,
    )
    return (each for each in maybe if each is not None)


def _anywhere(document: Document) -> Document:
    """Return a copy of the document without its namespace, which OLM sets."""
    metadata = {key: value for key, value in document["metadata"].items() if key != "namespace"}
    return {**document, "metadata": metadata}


def _dockerfile(annotations: Mapping[str, Any]) -> str:
    labels = "".join(f"LABEL {key}={json.dumps(text)}\n" for key, text in annotations.items())
    return (
        f"{_HEAD}FROM scratch\n\n"
        # The annotations as labels, for tools that read only the image.
        f"{labels}\n"
        "COPY manifests /manifests/\nCOPY metadata /metadata/\n"
    )
