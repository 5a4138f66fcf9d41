"""``steersman generate``: generates files and objects from an operator's types."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from steersman.cli.commands.common import (
    CommandError,
    echo_files,
    echo_json,
    output_option,
    target_argument,
    working,
)
from steersman.cli.commands.groups import Group

if TYPE_CHECKING:
    from steersman.manifests import Document, FileChanges, Installation

F = TypeVar("F", bound=Callable[..., Any])

_check = click.option(
    "--check", is_flag=True, help="Write nothing, and fail if a file is out of date."
)
_force = click.option("--force", is_flag=True, help="Overwrite files that were edited by hand.")
_output = output_option(
    "yaml", "json", help="Print to stdout instead of writing the project's files."
)
_into = click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write to this directory instead of the project.",
)


def _about(function: F) -> F:
    """Add the options that override the settings of the project."""
    for option in (
        click.option("--namespaces", metavar="A,B", help="Namespaces to manage (default: all)."),
        click.option("--app-version", "version", metavar="X.Y.Z", help="The operator's version."),
        click.option("--image", metavar="NAME", help="The operator's image."),
        click.option("--name", metavar="NAME", help="The operator's name."),
    ):
        function = option(function)
    return function


@click.group(
    cls=Group,
    invoke_without_command=True,
    epilog="""\b
Examples:
  steersman generate                          all files of the project
  steersman generate --check                  for CI: fail if a file is out of date
  steersman generate crd operator.py | kubectl apply -f -
  steersman generate crd --against old.yaml
""",
)
@_check
@_force
@output_option("json", help="Print the changed files as JSON.")
@click.pass_context
def generate(context: click.Context, check: bool, force: bool, output: str | None) -> None:
    """Generate manifests and docs from an operator.

    Without a subcommand, writes all generated files of the current project: CRDs, RBAC, the
    manifests that deploy the operator, a Helm chart, an OLM bundle and an API reference. If a
    generated file was edited by hand, prints the difference, writes nothing and fails; --force
    overwrites the file.

    Except for models and samples, each subcommand generates one part of these files. With a TARGET
    (module:attribute, a module or a file), it prints the part to stdout; chart and bundle write it
    to the directory of --into.
    """
    if context.invoked_subcommand is not None:
        if check or force or output:
            raise click.UsageError(f"write options after {context.invoked_subcommand}")
        return
    from steersman.cli.generator import PARTS

    _write_project(PARTS, check=check, force=force, output=output)


@generate.command(
    epilog="""\b
Examples:
  steersman generate crd                              deploy/crd of the project
  steersman generate crd operator.py > crd.yaml
  git show main:deploy/install.yaml > old.yaml && steersman generate crd --against old.yaml
"""
)
@target_argument
@_output
@_check
@_force
@click.option(
    "--against",
    type=click.Path(exists=True, path_type=Path),
    metavar="OLD",
    help="Compare with the CRDs in OLD (file or directory); list breaking changes, fail if any.",
)
def crd(
    target: str | None, output: str | None, check: bool, force: bool, against: Path | None
) -> None:
    """Generate the CustomResourceDefinitions."""
    if against is None:
        _part("crd", target, output=output, check=check, force=force)
        return
    from steersman.cli.generator import broken_by

    broken = broken_by(_installation(target), against=against)
    if output == "json":
        echo_json(list(broken))
    else:
        for line in broken:
            click.echo(line)
    if broken:
        count = f"{len(broken)} breaking change{'s' if len(broken) > 1 else ''}"
        raise CommandError(
            f"{count} since {against}",
            hint="serve the new schema as another version: steersman create api --version …",
        )
    click.echo(f"no breaking changes since {against}", err=True)


@generate.command(
    epilog="""\b
Examples:
  steersman generate rbac
  steersman generate rbac operator.py --namespaces team-a,team-b
"""
)
@target_argument
@_output
@_check
@_force
@_about
def rbac(target: str | None, output: str | None, check: bool, force: bool, **about: Any) -> None:
    """Generate the operator's RBAC with the least permissions.

    Includes ClusterRoles for users of the operator's kinds: admin, editor and viewer.
    """
    _part("rbac", target, output=output, check=check, force=force, **about)


@generate.command(
    epilog="""\b
Examples:
  steersman generate deploy
  steersman generate deploy operator.py --image shop:1.2.0 | kubectl apply -f -
"""
)
@target_argument
@_output
@_check
@_force
@_about
def deploy(target: str | None, output: str | None, check: bool, force: bool, **about: Any) -> None:
    """Generate install.yaml and a kustomize tree."""
    _part("deploy", target, output=output, check=check, force=force, **about)


@generate.command(
    epilog="""\b
Examples:
  steersman generate chart
  steersman generate chart operator.py --into chart --image shop:1.2.0
"""
)
@target_argument
@_into
@_check
@_force
@_about
def chart(target: str | None, into: Path | None, check: bool, force: bool, **about: Any) -> None:
    """Generate a Helm chart."""
    _tree("chart", target, into=into, check=check, force=force, **about)


@generate.command(
    epilog="""\b
Examples:
  steersman generate bundle
  steersman generate bundle operator.py --into bundle --app-version 1.2.0
"""
)
@target_argument
@_into
@_check
@_force
@_about
def bundle(target: str | None, into: Path | None, check: bool, force: bool, **about: Any) -> None:
    """Generate a bundle for the Operator Lifecycle Manager (OLM)."""
    _tree("bundle", target, into=into, check=check, force=force, **about)


@generate.command(
    epilog="""\b
Examples:
  steersman generate docs                             docs/api.md of the project
  steersman generate docs operator.py > api.md
"""
)
@target_argument
@_check
@_force
def docs(target: str | None, check: bool, force: bool) -> None:
    """Generate an API reference in Markdown."""
    if target is None:
        _write_project(("docs",), check=check, force=force, output=None)
        return
    from steersman.cli.generator import tree_of

    for text in tree_of("docs", _installation(target)).values():
        click.echo(text, nl=False)


@generate.command(
    epilog="""\b
Examples:
  steersman generate samples operator.py | kubectl apply -f -
  steersman generate samples -o json
"""
)
@target_argument
@output_option("yaml", "json", help="Output format (default: yaml).")
def samples(target: str | None, output: str | None) -> None:
    """Print a sample object of each kind."""
    from steersman.cli.generator import documents_of

    _print(documents_of("samples", _installation(target)), output or "yaml")


@generate.command(
    epilog="""\b
Examples:
  steersman generate models crontab.yaml > crontab.py
  steersman generate models --from-cluster certificates.cert-manager.io --into src/shop/models
  kubectl get crd -o yaml | steersman generate models - --into models
"""
)
@click.argument("file", required=False, type=click.File(encoding="utf-8"), metavar="[FILE]")
@click.option(
    "--from-cluster",
    metavar="NAME",
    help="Name of a CRD in the cluster, such as widgets.example.com.",
)
@click.option(
    "--version", metavar="NAME", help="Version to generate (default: all served versions)."
)
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write one module per kind and version to DIR (default: print a single module).",
)
@_force
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Kubeconfig of the cluster (default: the same as kubectl's).",
)
@click.option("--context", metavar="NAME", help="Context of the kubeconfig.")
@click.option(
    "--insecure-skip-tls-verify",
    is_flag=True,
    help="Accept a kubeconfig that sets insecure-skip-tls-verify.",
)
def models(
    file: Any,
    from_cluster: str | None,
    version: str | None,
    into: Path | None,
    force: bool,
    kubeconfig: Path | None,
    context: str | None,
    insecure_skip_tls_verify: bool,
) -> None:
    """Generate typed classes from CRDs of other projects.

    Reads the CRDs from FILE (- is stdin) or from a cluster.
    """
    import asyncio
    from random import SystemRandom

    from steersman.cli.models import (
        definition_from_cluster,
        definitions_in,
        models_tree,
        write_models,
    )
    from steersman.client import Trust
    from steersman.clock import SystemClock

    if (file is None) == (from_cluster is None):
        raise click.UsageError("name a FILE with definitions, or a definition --from-cluster")
    if from_cluster is None:
        name = "stdin" if file.name == "-" or file is sys.stdin else str(file.name)
        try:
            found = definitions_in(file.read(), source=name)
        except UnicodeDecodeError as error:
            raise click.UsageError(f"{name} is not a UTF-8 text file") from error
    else:
        with working("reading from the cluster"):
            found = (
                asyncio.run(
                    definition_from_cluster(
                        from_cluster,
                        kubeconfig=kubeconfig,
                        context=context,
                        clock=SystemClock(),
                        rng=SystemRandom(),
                        environ=os.environ,
                        trust=Trust(unverified_servers=insecure_skip_tls_verify),
                    )
                ),
            )
    tree = models_tree(found, version=version)
    if into is not None:
        written = [str(path) for path in write_models(into, tree, force=force)]
        echo_files({"written": written}, output=None)
    elif len(tree) == 1:
        click.echo(next(iter(tree.values())), nl=False)
    else:
        raise click.UsageError(
            f"there are {len(tree)} modules to write: name a directory with --into, or a --version"
        )


# Shared by the commands


def _installation(target: str | None, **about: Any) -> "Installation":
    from steersman.cli.generator import installation_of
    from steersman.cli.operator_target import find_operator

    names = about.pop("namespaces", None) or ""
    namespaces = tuple(each.strip() for each in names.split(",") if each.strip())
    operator = find_operator(target, directory=Path.cwd())
    with working(f"loading {operator.target}"):
        return installation_of(operator, namespaces=namespaces, **about)


def _part(
    part: str, target: str | None, *, output: str | None, check: bool, force: bool, **about: Any
) -> None:
    """Print the objects of a part, or write its files."""
    if target is None and output is None:
        _write_project((part,), check=check, force=force, output=None, **about)
        return
    if check or force:
        raise click.UsageError("--check and --force apply only to the files of a project")
    from steersman.cli.generator import documents_of

    _print(documents_of(part, _installation(target, **about)), output or "yaml")


def _tree(
    part: str, target: str | None, *, into: Path | None, check: bool, force: bool, **about: Any
) -> None:
    """Write the files of a part into a directory, or into the project."""
    from steersman.cli.generator import tree_of
    from steersman.manifests import check_trees, write_trees

    if into is None:
        if target is not None:
            raise click.UsageError("name a directory with --into")
        _write_project((part,), check=check, force=force, output=None, **about)
        return
    tree = tree_of(part, _installation(target, **about))
    if check:
        check_trees(into, {part: tree})
    else:
        _print_file_changes(write_trees(into, {part: tree}, force=force), output=None)


def _write_project(
    parts: Sequence[str], *, check: bool, force: bool, output: str | None, **about: Any
) -> None:
    from steersman.cli.generator import project_trees
    from steersman.manifests import check_trees, was_generated, write_trees
    from steersman.scaffold import Project, egress_warnings

    project = Project.find(Path.cwd())
    directory = project.directory
    if check and not was_generated(directory, "deploy"):
        click.echo(
            "there are no generated files yet: steersman generate writes deploy/ and docs/",
            err=True,
        )
        return
    with working("generating"):
        trees = project_trees(_installation(None, **about), parts)
        if check:
            check_trees(directory, trees)
            done = None
        else:
            done = write_trees(directory, trees, force=force)
    for each in egress_warnings(project):
        click.echo(f"warning: {each}", err=True)
    if done is None:
        click.echo("all generated files are up to date", err=True)
    else:
        _print_file_changes(done, output=output)


def _print_file_changes(done: "FileChanges", *, output: str | None) -> None:
    files = {"written": done.written, "removed": done.removed, "left": done.left}
    echo_files(files, output=output)
    if not any(files.values()) and output is None:
        click.echo("all generated files are up to date", err=True)


def _print(documents: "Sequence[Document]", output: str) -> None:
    from steersman.manifests import yaml_of

    if output == "yaml":
        click.echo(yaml_of(documents), nl=False)
    elif len(documents) == 1:
        echo_json(documents[0])
    else:
        echo_json({"apiVersion": "v1", "kind": "List", "items": list(documents)})
