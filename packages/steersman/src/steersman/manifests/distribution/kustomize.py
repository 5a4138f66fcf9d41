"""An installation as files: one file to apply as is, and the same objects in pieces, for kustomize.

    deploy/
      install.yaml            all objects that every cluster accepts: kubectl apply --server-side -f
      kustomization.yaml      the same objects, from the pieces: kubectl apply -k
      crd/  rbac/  operator/  the pieces
      components/monitor/     one more object, for a cluster with a Prometheus operator

To customize the installation, a user writes a separate kustomization with ``deploy`` among its
resources and leaves these files unchanged.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from steersman.manifests.documents import GENERATED, Document, optional_document, yaml_of
from steersman.manifests.files import Tree, in_folder
from steersman.manifests.install import InstallManifests, parts_of
from steersman.manifests.installation import Installation

_FILE: Final = "kustomization.yaml"

_HEAD: Final = f"# {GENERATED}\n"


def crd_tree(installation: Installation) -> Tree:
    """Return the files under ``crd/``: one for each kind that the operator defines."""
    return _crds(parts_of(installation))


def rbac_tree(installation: Installation) -> Tree:
    """Return the files under ``rbac/``: the service account, the roles and their bindings."""
    return _rbac(parts_of(installation))


def deploy_tree(installation: Installation) -> Tree:
    """Return install.yaml, the files of the operator itself, and the kustomizations.

    These are all files of the installation except those of ``crd_tree`` and ``rbac_tree``.
    """
    parts = parts_of(installation)
    pieces = [name for name, tree in (("crd", _crds(parts)), ("rbac", _rbac(parts))) if tree]
    tree: dict[str, str] = {
        "install.yaml": _text(parts.in_order),
        _FILE: _kustomization(resources=(*pieces, "operator")),
        **_piece(
            "operator",
            {
                "namespace": (parts.namespace,),
                "deployment": (parts.deployment,),
                "disruption_budget": (parts.disruption_budget,),
                "network_policy": (parts.network_policy,),
                "metrics_service": optional_document(parts.metrics_service),
            },
        ),
    }
    if parts.monitor is not None:
        component = _kustomization(
            api_version="v1alpha1", kind="Component", resources=("monitor.yaml",)
        )
        monitor = {_FILE: component, "monitor.yaml": _text((parts.monitor,))}
        tree.update(in_folder("components/monitor", monitor))
    return tree


def _crds(parts: InstallManifests) -> Tree:
    return _piece("crd", {crd["metadata"]["name"]: (crd,) for crd in parts.crds})


def _rbac(parts: InstallManifests) -> Tree:
    return _piece(
        "rbac",
        {
            "account": (parts.account,),
            "operator": parts.grants,
            "metrics": (*parts.metrics_grants, *optional_document(parts.metrics_reader)),
            "user-roles": parts.user_roles,
        },
    )


def _text(documents: Iterable[Document]) -> str:
    return _HEAD + yaml_of(documents)


def _piece(folder: str, files: Mapping[str, Sequence[Document]]) -> Tree:
    """Return a folder with the files that are not empty, and a kustomization that lists them."""
    tree = {f"{name}.yaml": _text(documents) for name, documents in files.items() if documents}
    if not tree:
        return {}
    return in_folder(folder, {**tree, _FILE: _kustomization(resources=tree)})


def _kustomization(
    *, resources: Iterable[str], api_version: str = "v1beta1", kind: str = "Kustomization"
) -> str:
    return _text(
        [
            {
                "apiVersion": f"kustomize.config.k8s.io/{api_version}",
                "kind": kind,
                "resources": list(resources),
            }
        ]
    )
