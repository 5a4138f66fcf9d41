"""Generates an operator's manifests and docs.

Each part has the name of its subcommand of ``steersman generate``, such as ``crd``.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from steersman.cli.operator_target import OperatorTarget
from steersman.cli.targets import load_manager
from steersman.errors import BadDefinition, BadTarget
from steersman.manifests import (
    DEFAULT_REPLICAS,
    BundleSettings,
    Document,
    Installation,
    Tree,
    breaking_changes,
    bundle_tree,
    crd_documents,
    crd_tree,
    deploy_tree,
    helm_tree,
    in_folder,
    install_documents,
    parts_of,
    rbac_tree,
    reference_of,
    sample_of,
)
from steersman.scaffold import BundleTable

# In the order of help.
PARTS: Final = ("crd", "rbac", "deploy", "chart", "bundle", "docs")

FIRST_VERSION: Final = "0.1.0"
REFERENCE: Final = "docs/api.md"


def installation_of(
    operator: OperatorTarget,
    *,
    name: str | None = None,
    image: str | None = None,
    version: str | None = None,
    namespaces: Sequence[str] = (),
) -> Installation:
    """Return the installation of ``operator``, with settings from its project.

    The arguments ``name``, ``image``, ``version`` and ``namespaces`` override the project's
    settings.
    """
    manager = load_manager(operator.target, directory=operator.directory)
    if not manager.controllers:
        raise BadTarget(
            target=operator.target,
            problem="it contains no controllers, so there is nothing to generate",
            what_now="Name a manager with controllers.",
        )
    project = operator.project
    if project is None:
        called = name or f"{manager.controllers[0].name}-operator"
        release = version or FIRST_VERSION
        return Installation(
            name=called,
            controllers=manager.controllers,
            runnables=manager.runnables,
            caches=manager.options.caches,
            image=image or f"{called}:{release}",
            version=release,
            namespaces=tuple(namespaces),
        )
    settings, digest = project.deploy.settings, project.deploy.digest
    pinned = project.image if digest is None else f"{project.image.partition('@')[0]}@{digest}"
    return Installation(
        name=name or project.name,
        controllers=manager.controllers,
        runnables=manager.runnables,
        caches=manager.options.caches,
        image=image or pinned,
        version=version or project.version,
        namespaces=tuple(namespaces) or project.namespaces,
        description=project.description,
        maintainers=project.maintainers,
        replicas=project.deploy.replicas or DEFAULT_REPLICAS,
        deploy=settings,
        bundle=_bundle(project.bundle),
    )


def _bundle(table: BundleTable) -> BundleSettings:
    icon = None if table.icon is None else (table.icon[0], table.icon[1].read_bytes())
    return BundleSettings(channel=table.channel, replaces=table.replaces, icon=icon)


def tree_of(part: str, installation: Installation) -> Tree:
    """Return the files of ``part``, with paths relative to the part's own directory.

    ``part`` is the name of a subcommand, such as ``crd``.
    """
    match part:
        case "crd":
            return crd_tree(installation)
        case "rbac":
            return rbac_tree(installation)
        case "deploy":
            return deploy_tree(installation)
        case "chart":
            return helm_tree(installation)
        case "bundle":
            return bundle_tree(installation)
        case "docs":
            return {"api.md": reference_of(crd_documents(installation))}
        case _:
            raise ValueError(f"unknown part {part!r}")


def project_trees(installation: Installation, parts: Iterable[str] = PARTS) -> dict[str, Tree]:
    """Return the files of each part in ``parts``, with paths relative to the project."""
    return {part: in_folder(_HOMES[part], tree_of(part, installation)) for part in parts}


_HOMES: Final = {
    "crd": "deploy",
    "rbac": "deploy",
    "deploy": "deploy",
    "chart": "deploy/chart",
    "bundle": "deploy/bundle",
    "docs": "docs",
}


def documents_of(part: str, installation: Installation) -> tuple[Document, ...]:
    """Return the objects of ``part``, such as ``crd``, in the order in which to apply them."""
    match part:
        case "crd":
            return crd_documents(installation)
        case "rbac":
            found = parts_of(installation)
            return (found.account, *found.grants, *found.metrics_grants, *found.user_roles)
        case "deploy":
            return install_documents(installation)
        case "samples":
            return tuple(map(sample_of, crd_documents(installation)))
        case _:
            raise ValueError(f"the part {part!r} does not consist of objects")


def broken_by(installation: Installation, *, against: Path) -> tuple[str, ...]:
    """Return a line for each breaking change from the old CRDs to those of ``installation``.

    ``against`` is a file or directory with the old CRDs.
    """
    now = {str(each["metadata"]["name"]): each for each in crd_documents(installation)}
    lines: list[str] = []
    for old in _definitions_at(against):
        name = str(old["metadata"]["name"])
        if name not in now:
            lines.append(f"{name}: the kind was removed")
        else:
            lines += [f"{name}: {change}" for change in breaking_changes(old, now[name])]
    return tuple(lines)


def _definitions_at(path: Path) -> tuple[Document, ...]:
    # Imported here, because it loads the generator of classes.
    from steersman.cli.models import definitions_in

    if not path.is_dir():
        return definitions_in(_text_of(path), source=str(path))
    found: list[Document] = []
    for each in sorted((*path.glob("*.yaml"), *path.glob("*.yml"), *path.glob("*.json"))):
        # Directories of definitions often contain a kustomization, as the generated ones do.
        if each.stem != "kustomization":
            found += definitions_in(_text_of(each), source=str(each))
    if not found:
        raise BadDefinition(
            source=str(path),
            problem="it contains no definition",
            what_now="Name a file or a directory with CustomResourceDefinitions.",
        )
    return tuple(found)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadDefinition(
            source=str(path),
            problem=f"it cannot be read: {error}",
            what_now="Name an existing YAML or JSON file.",
        ) from error
