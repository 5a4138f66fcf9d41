"""``steersman init``, ``create`` and ``upgrade``: projects and their files."""

import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steersman.cli.commands.common import (
    CommandError,
    echo_files,
    echo_json,
    output_option,
    working,
)
from steersman.cli.commands.groups import Group

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steersman.scaffold import CreatedFiles, DeclaredKind, Project

_as_json = output_option("json", help="Print the changed files as JSON.")
_cluster_scoped = click.option(
    "--cluster-scoped", is_flag=True, help="Objects of this kind have no namespace."
)
_plural = click.option(
    "--plural", metavar="WORD", help="Plural of the kind (default: derived from the kind)."
)


@click.command(
    epilog="""\b
Examples:
  steersman init shop --domain example.com
  cd shop && make test
"""
)
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), metavar="DIR")
@click.option(
    "--domain", required=True, metavar="NAME", help="Domain of the API groups, such as example.com."
)
@click.option("--name", metavar="NAME", help="Project name (default: the name of DIR).")
@click.option("--package", metavar="NAME", help="Python package (default: the project name).")
@_as_json
def init(
    directory: Path, domain: str, name: str | None, package: str | None, output: str | None
) -> None:
    """Create an operator project.

    DIR must be empty; it is created if it does not exist.
    """
    from steersman.scaffold import init_project, installed_origin

    with working("packing steersman"):
        made = init_project(
            directory, domain=domain, name=name, package=package, origin=installed_origin
        )
    _print_created_files(made, output=output)


@click.group(
    cls=Group,
    epilog="""\b
Examples:
  steersman create api --group app --version v1 --kind AppService
  steersman create controller --group apps --version v1 --kind Deployment
""",
)
def create() -> None:
    """Add a kind or a controller to the project."""


@create.command(
    epilog="""\b
Examples:
  steersman create api --group app --version v1 --kind AppService
  steersman create api --group app --version v1beta1 --kind AppService
"""
)
@click.option(
    "--group",
    required=True,
    metavar="NAME",
    help="API group; without a dot, the project's domain is appended.",
)
@click.option(
    "--version", required=True, metavar="NAME", help="API version, such as v1 or v1beta1."
)
@click.option("--kind", required=True, metavar="NAME", help="Kind, such as AppService.")
@_cluster_scoped
@_plural
@_as_json
def api(
    group: str,
    version: str,
    kind: str,
    cluster_scoped: bool,
    plural: str | None,
    output: str | None,
) -> None:
    """Add a custom resource and its controller.

    Writes types, a reconcile function, a test and a sample. If the project already has the kind
    in another version, writes the types and a sample of the new version, and adds the version to
    the kind's class.
    """
    from steersman.scaffold import Project, create_api

    project = Project.find(Path.cwd())
    made = create_api(
        project,
        group=group,
        version=version,
        kind=kind,
        namespaced=not cluster_scoped,
        plural=plural,
        operator_kinds=_kinds_of(project),
    )
    _print_created_files(made, output=output)


@create.command(
    epilog="""\b
Examples:
  steersman create controller --group apps --version v1 --kind Deployment
  steersman generate models cert-manager.yaml --into src/shop/models
  steersman create controller --group cert-manager.io --version v1 --kind Certificate \\
      --models shop.models.certificate_v1
"""
)
@click.option("--group", default="", metavar="NAME", help="API group (default: the core group).")
@click.option("--version", required=True, metavar="NAME", help="API version, such as v1.")
@click.option("--kind", required=True, metavar="NAME", help="Kind, such as Deployment.")
@_cluster_scoped
@_plural
@click.option(
    "--models",
    metavar="MODULE",
    help="Python module with the class of a kind that steersman does not include.",
)
@_as_json
def controller(
    group: str,
    version: str,
    kind: str,
    cluster_scoped: bool,
    plural: str | None,
    models: str | None,
    output: str | None,
) -> None:
    """Add a controller for a built-in kind or an existing CRD."""
    from steersman.scaffold import Project, create_controller

    project = Project.find(Path.cwd())
    made = create_controller(
        project,
        group=group,
        version=version,
        kind=kind,
        namespaced=not cluster_scoped,
        plural=plural,
        models=models,
        operator_kinds=_kinds_of(project),
    )
    _print_created_files(made, output=output)


@click.command(
    epilog="""\b
Example:
  git commit -am "before the upgrade" && steersman upgrade && make test
"""
)
@_as_json
def upgrade(output: str | None) -> None:
    """Upgrade the project to the installed version of steersman.

    Merges the new project files with your changes. If you and steersman changed the same line, the
    file contains both versions with git's conflict markers, and the exit status is 1. Replaces
    renamed steersman APIs in your source files; run `ruff check --fix` afterwards to sort imports.
    """
    from steersman.scaffold import Project, installed_origin, upgrade_project

    project = Project.find(Path.cwd())
    with working("merging"):
        done = upgrade_project(project, search_path=os.environ.get("PATH"), origin=installed_origin)
    files = {
        "added": done.added,
        "replaced": done.replaced,
        "merged": done.merged,
        "renamed": done.renamed,
        "removed": done.removed,
        "kept": done.kept,
        "conflicts": done.conflicts,
    }
    if output == "json":
        names = [{"before": old, "after": new} for old, new in done.names]
        echo_json({"before": done.before, "after": done.after, **files, "names": names})
    else:
        echo_files(files, output=None)
        for old, new in done.names:
            click.echo(f"{old} is now {new}", err=True)
        if done.before != done.after or any(files.values()):
            click.echo(f"upgraded from {done.before} to {done.after}", err=True)
        else:
            click.echo(f"up to date with steersman {done.after}", err=True)
    if done.conflicts:
        raise CommandError(
            f"conflicting changes are marked in {', '.join(done.conflicts)}",
            hint="git grep -n '<<<<<<<'",
        )


def _kinds_of(project: "Project") -> "Sequence[DeclaredKind]":
    """Return every kind that the operator defines, in every version; nothing if the operator cannot
    be loaded.
    """
    from steersman.cli.targets import load_manager
    from steersman.errors import BadTarget
    from steersman.manifests import own_kinds

    try:
        with working(f"loading {project.target}"):
            manager = load_manager(project.target, directory=project.directory)
    except BadTarget as error:
        click.echo(
            f"note: the operator cannot be loaded, so its kinds are read from its source: {error}",
            err=True,
        )
        return ()
    return tuple(
        _declared(version, project.directory)
        for kind in own_kinds(manager.controllers)
        for version in (kind, *_other_versions(kind))
    )


def _other_versions(kind: type[Any]) -> tuple[type[Any], ...]:
    crd = kind.declared_crd
    return () if crd is None else crd.also_serves


def _declared(kind: type[Any], directory: Path) -> "DeclaredKind":
    from steersman.scaffold import DeclaredKind

    gvk = kind.resource_type.gvk
    path = Path(inspect.getfile(kind)).resolve()
    root = directory.resolve()
    inside = path.is_relative_to(root)
    return DeclaredKind(
        path=path.relative_to(root).as_posix() if inside else str(path),
        class_name=kind.__name__,
        group=gvk.group,
        version=gvk.version,
        kind=gvk.kind,
    )


def _print_created_files(made: "CreatedFiles", *, output: str | None) -> None:
    echo_files({"written": made.written, "changed": made.changed}, output=output)
    if made.what_now and output is None:
        click.echo("\nNext steps:\n", err=True)
        for each in made.what_now:
            click.echo(f"  {each}", err=True)
