"""``steersman init``, ``create`` and ``upgrade``: projects, and what is in them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steersman.cli.commands.common import Failed, echo_files, echo_json, output_option, working
from steersman.cli.commands.groups import Group

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steersman.scaffold import Declared, Made, Project

_as_json = output_option("json", help="Print what was done as JSON.")
_cluster_scoped = click.option(
    "--cluster-scoped", is_flag=True, help="Its objects are in no namespace."
)
_plural = click.option("--plural", metavar="WORD", help="In paths; guessed from the kind if not.")


@click.command(
    epilog="""\b
Examples:
  steersman init shop --domain example.com
  cd shop && make test
"""
)
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), metavar="DIR")
@click.option(
    "--domain", required=True, metavar="NAME", help="Its API groups end in this: example.com."
)
@click.option("--name", metavar="NAME", help="What it is called; without it, as the directory.")
@click.option("--package", metavar="NAME", help="Its Python package; without it, as the project.")
@_as_json
def init(
    directory: Path, domain: str, name: str | None, package: str | None, output: str | None
) -> None:
    """Make a new operator project.

    DIR is made, unless it is there and empty.
    """
    from steersman.scaffold import init_project, installed_origin

    with working("packing this steersman"):
        made = init_project(
            directory, domain=domain, name=name, package=package, origin=installed_origin
        )
    _tell(made, output=output)


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
    "--group", required=True, metavar="NAME", help="Its group; without a dot, of the domain."
)
@click.option("--version", required=True, metavar="NAME", help="Its version: v1, v1beta1.")
@click.option("--kind", required=True, metavar="NAME", help="What it is called: AppService.")
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
    """Add a kind of your own.

    With its types, reconcile function, test and sample. A kind that the project has in another
    version gets this one beside it.
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
    _tell(made, output=output)


@create.command(
    epilog="""\b
Examples:
  steersman create controller --group apps --version v1 --kind Deployment
  steersman generate models cert-manager.yaml --into src/shop/models
  steersman create controller --group cert-manager.io --version v1 --kind Certificate \\
      --models shop.models.certificate_v1
"""
)
@click.option("--group", default="", metavar="NAME", help="Its group; the core group without.")
@click.option("--version", required=True, metavar="NAME", help="Its version: v1.")
@click.option("--kind", required=True, metavar="NAME", help="What it is called: Deployment.")
@_cluster_scoped
@_plural
@click.option("--models", metavar="MODULE", help="The module with its class, if it has one.")
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
    """Add a controller for a kind that somebody else defines."""
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
    _tell(made, output=output)


@click.command(
    epilog="""\b
Example:
  git commit -am "before the upgrade" && steersman upgrade && make test
"""
)
@_as_json
def upgrade(output: str | None) -> None:
    """Bring a project up to date with this steersman.

    What you have changed is kept; where both have changed a line, the file has both, marked as git
    marks them, and the exit status is 1.
    """
    from steersman.scaffold import Project, installed_origin, upgrade_project

    project = Project.find(Path.cwd())
    with working("merging"):
        done = upgrade_project(project, search_path=os.environ.get("PATH"), origin=installed_origin)
    files = {
        "added": done.added,
        "replaced": done.replaced,
        "merged": done.merged,
        "removed": done.removed,
        "kept": done.kept,
        "conflicts": done.conflicts,
    }
    if output == "json":
        echo_json({"before": done.before, "after": done.after, **files})
    else:
        echo_files(files, output=None)
        if done.before != done.after or any(files.values()):
            click.echo(f"upgraded from {done.before} to {done.after}", err=True)
        else:
            click.echo(f"up to date with steersman {done.after}", err=True)
    if done.conflicts:
        raise Failed(
            f"lines that both have changed are marked in {', '.join(done.conflicts)}",
            hint="git grep -n '<<<<<<<'",
        )


def _kinds_of(project: "Project") -> "Sequence[Declared]":
    """What the operator says it has; where it does not load, its source has to do."""
    from steersman.cli.operator_kinds import kinds_of_operator
    from steersman.errors import BadTarget

    try:
        with working(f"loading {project.target}"):
            return kinds_of_operator(project)
    except BadTarget as error:
        click.echo(f"note: its kinds are read from its source: {error}", err=True)
        return ()


def _tell(made: "Made", *, output: str | None) -> None:
    echo_files({"written": made.written, "changed": made.changed}, output=output)
    if made.what_now and output is None:
        click.echo("\nWhat now:\n", err=True)
        for each in made.what_now:
            click.echo(f"  {each}", err=True)
