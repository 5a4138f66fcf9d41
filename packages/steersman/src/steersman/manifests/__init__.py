"""Everything that installs an operator, made from its types: the only source there is.

Takes:     an ``Installation``: controllers, and a few words about where they will run
Gives:     documents (objects as they are on the wire) and trees (paths, each with a text)
Promises:  - the same operator gives the same bytes every time
           - a manifest grants an operator what it declares and nothing more
           - everything is accepted as it is
           - its pods are let into a namespace that is restricted
           - the pieces together are what is installed
           - a chart gives the objects of its install.yaml
           - an edited file is kept and nothing at all is written
           - what no schema can describe is refused with its field and the reason
           - where no breaking change is named what was kept is kept
           - a sample is what its schema takes
Never:     talks to a server

From a class to a definition: ``schema`` walks through the fields. ``hints`` take an annotation
apart, ``scalars`` know the types without anything inside, ``ruling`` adds what a ``Rule`` says,
``builtin_facts`` what Kubernetes says of its own, and ``descriptions`` what the source says for
people. ``crd`` puts the definition around it, and follows its ``paths`` through the schema; what
cannot be is refused at its place, by ``places``.

From an ``installation``, to which ``deploy_settings`` add what its author says, to files:
``install`` has its objects, made by ``crd``, ``rbac`` and
``deployment``; ``kustomize``, ``helm`` (with ``helm_text`` and ``helm_values``) and ``bundle``
(with ``bundle_csv``) make trees of them, and ``files`` brings those to the disk. ``catalog`` and
``scopes`` are what charts and bundles have in common; ``documents`` is how all is written.

From a definition, whoever made it, to words: ``definitions`` reads it; ``evolution`` says what
breaks by another, from the ``narrowing`` of schemas; ``samples`` makes an object up, with texts
from ``exemplars``; ``reference`` writes it all down. ``fitting`` tells whether a value is what a
schema says.
"""

from steersman.manifests.bundle import bundle_tree
from steersman.manifests.crd import crd_of, crds_of
from steersman.manifests.deploy_settings import BundleSettings, DeploySettings, ExtraRule
from steersman.manifests.deployment import API_SERVER_PORTS, DNS_PORT
from steersman.manifests.documents import Document, as_document, yaml_of
from steersman.manifests.evolution import BreakingChange, breaking_changes
from steersman.manifests.files import (
    Changes,
    Tree,
    check_trees,
    generated_paths,
    under,
    was_generated,
    write_trees,
)
from steersman.manifests.helm import helm_tree
from steersman.manifests.install import Parts, crd_documents, install_documents, parts_of
from steersman.manifests.installation import (
    DEFAULT_REPLICAS,
    LIMITS,
    REQUESTS,
    Installation,
    own_kinds,
)
from steersman.manifests.kustomize import crd_tree, deploy_tree, rbac_tree
from steersman.manifests.reference import reference_of
from steersman.manifests.samples import sample_of

__all__ = [
    "API_SERVER_PORTS",
    "DEFAULT_REPLICAS",
    "DNS_PORT",
    "LIMITS",
    "REQUESTS",
    "BreakingChange",
    "BundleSettings",
    "Changes",
    "DeploySettings",
    "Document",
    "ExtraRule",
    "Installation",
    "Parts",
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
    "install_documents",
    "own_kinds",
    "parts_of",
    "rbac_tree",
    "reference_of",
    "sample_of",
    "under",
    "was_generated",
    "write_trees",
    "yaml_of",
]
