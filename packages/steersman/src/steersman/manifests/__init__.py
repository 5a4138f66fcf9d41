"""Everything that installs an operator, generated from its Python classes, the only source.

    schema         the structural schema of a class; ``crd`` builds the definition around it
    definition     a CustomResourceDefinition as read: breaking changes, samples, reference
    distribution   kustomize, a Helm chart, an OLM bundle
    install        the objects of an ``installation``, from ``crd``, ``roles`` and ``deployment``
    files          trees of files, and how they are written to disk

Takes:     an ``Installation``: controllers, and where and how they run
Gives:     documents (objects as JSON values) and trees (paths, each with a text)
Promises:  - the same operator gives the same bytes every time
           - a manifest grants an operator what it declares and nothing more
           - the server accepts every object unchanged
           - its pods are admitted to a restricted namespace
           - an edited file is kept and then no file is written
Never:     sends a request to a server
"""

from steersman.manifests.crd import crd_of, crds_of
from steersman.manifests.definition.breaking_changes import BreakingChange, breaking_changes
from steersman.manifests.definition.reference import reference_of
from steersman.manifests.definition.sample import sample_of
from steersman.manifests.deploy_settings import BundleSettings, DeploySettings, ExtraRule
from steersman.manifests.deployment import API_SERVER_PORTS, DNS_PORT
from steersman.manifests.distribution.bundle import bundle_tree
from steersman.manifests.distribution.chart import helm_tree
from steersman.manifests.distribution.kustomize import crd_tree, deploy_tree, rbac_tree
from steersman.manifests.documents import Document, as_document, yaml_of
from steersman.manifests.files import (
    FileChanges,
    Tree,
    check_trees,
    generated_paths,
    in_folder,
    was_generated,
    write_trees,
)
from steersman.manifests.install import InstallManifests, crd_documents, install_documents, parts_of
from steersman.manifests.installation import (
    DEFAULT_REPLICAS,
    LIMITS,
    REQUESTS,
    Installation,
    own_kinds,
)

__all__ = [
    "API_SERVER_PORTS",
    "DEFAULT_REPLICAS",
    "DNS_PORT",
    "LIMITS",
    "REQUESTS",
    "BreakingChange",
    "BundleSettings",
    "DeploySettings",
    "Document",
    "ExtraRule",
    "FileChanges",
    "InstallManifests",
    "Installation",
    "Tree",
    "as_document",
    "breaking_changes",
    "bundle_tree",
    "check_trees",
    "crd_documents",
    "crd_of",
    "crd_tree",
    "crds_of",
    "deploy_tree",
    "generated_paths",
    "helm_tree",
    "in_folder",
    "install_documents",
    "own_kinds",
    "parts_of",
    "rbac_tree",
    "reference_of",
    "sample_of",
    "was_generated",
    "write_trees",
    "yaml_of",
]
