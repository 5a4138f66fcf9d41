"""An installation as a bundle for catalogs of the Operator Lifecycle Manager (``registry+v1``).

    bundle.Dockerfile                          an image of nothing but the rest
    metadata/annotations.yaml
    manifests/
      NAME.clusterserviceversion.yaml          the operator: what it is, needs and manages
      PLURAL.GROUP.crd.yaml                    a definition each
      *.yaml                                   what else a bundle may hold

What the ClusterServiceVersion says, OLM makes: Deployment, account, roles and their bindings. Of
the rest, three things are not in a bundle. The Namespace is that of the Subscription. A
NetworkPolicy is refused by versions of OLM that are still about. And a ServiceMonitor would have
the whole installation fail where no Prometheus operator is.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from steersman.manifests.distribution.catalog import is_mature
from steersman.manifests.distribution.cluster_service_version import cluster_service_version
from steersman.manifests.documents import MADE, Document, yaml_of
from steersman.manifests.files import Tree
from steersman.manifests.install import Parts, parts_of
from steersman.manifests.installation import Installation

_HEAD: Final = f"# {MADE}\n"

_PREFIX: Final = "operators.operatorframework.io.bundle"


def bundle_tree(
    installation: Installation,
    *,
    channel: str | None = None,
    replaces: str | None = None,
    icon: tuple[str, bytes] | None = None,
) -> Tree:
    """The bundle; to be built with its own directory as the context.

    It is offered in ``channel``: ``stable``, or ``candidate`` while its version promises nothing.
    ``replaces`` is the version that it is an upgrade of; ``icon`` is a media type and an image.
    Each is as ``installation.bundle`` says, unless it is given.
    """
    parts = parts_of(installation)
    said = installation.bundle
    offered_in = channel or said.channel or ("stable" if is_mature(installation) else "candidate")
    annotations = {
        f"{_PREFIX}.mediatype.v1": "registry+v1",
        f"{_PREFIX}.manifests.v1": "manifests/",
        f"{_PREFIX}.metadata.v1": "metadata/",
        f"{_PREFIX}.package.v1": installation.name,
        f"{_PREFIX}.channels.v1": offered_in,
        f"{_PREFIX}.channel.default.v1": offered_in,
    }
    csv = cluster_service_version(
        installation, parts, replaces=replaces or said.replaces, icon=icon or said.icon
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


def _beside(parts: Parts) -> Iterable[Document]:
    maybe = (parts.metrics_reader, *parts.people, parts.disruption_budget, parts.metrics_service)
    return (each for each in maybe if each is not None)


def _anywhere(document: Document) -> Document:
    """The same without a namespace: OLM has its own."""
    metadata = {key: value for key, value in document["metadata"].items() if key != "namespace"}
    return {**document, "metadata": metadata}


def _dockerfile(annotations: Mapping[str, Any]) -> str:
    labels = "".join(f"LABEL {key}={json.dumps(text)}\n" for key, text in annotations.items())
    return (
        f"{_HEAD}FROM scratch\n\n"
        # The same as in the annotations: who looks at the image alone finds them there.
        f"{labels}\n"
        "COPY manifests /manifests/\nCOPY metadata /metadata/\n"
    )
