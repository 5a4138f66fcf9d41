"""``steersman dev``: an operator on the embedded cluster, restarted after every save."""

import os
import sys
from pathlib import Path

import click

from steersman.cli import target_argument


@click.command(
    epilog="""\b
Examples:
  steersman dev                                  in a project: its operator
  steersman dev --samples                        with the project's samples applied
  steersman dev operator.py --apply app.yaml
  steersman dev shop.operator:manager --for 10 | tee log
"""
)
@target_argument
@click.option(
    "--samples", is_flag=True, help="Apply the files in samples/ at the start and after each save."
)
@click.option(
    "--apply",
    "files",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    metavar="PATH",
    help="Also apply the objects in this file or directory, at the start and after each save.",
)
@click.option(
    "--for",
    "for_seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop this long after the operator has started (default: run until Ctrl-C).",
)
@click.option(
    "--nodes",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of simulated nodes.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Port of the cluster; 0 selects a free port.",
)
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the kubeconfig to this file; it is removed when the cluster stops.",
)
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Persist the cluster's data in this directory (default: in memory).",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="Minimum level of the operator's log lines.",
)
@click.option(
    "--force", is_flag=True, help="Start even in a Pod, where the command fails by default."
)
def dev(
    target: str | None,
    samples: bool,
    files: tuple[Path, ...],
    for_seconds: float | None,
    nodes: int,
    port: int,
    kubeconfig: Path | None,
    data: Path | None,
    log_level: str,
    force: bool,
) -> None:
    """Run an operator on an embedded cluster, with reload.

    TARGET is module:attribute, a module, or a file. In a project, the default is the project's
    operator. The cluster runs in this process, with the operator's CRDs installed. The operator
    runs in another process, which restarts when one of its files is saved. Ctrl-C stops both.
    """
    import asyncio
    from random import SystemRandom

    from steersman.cli import find_operator
    from steersman.clock import SystemClock
    from steersman_cluster.apiserver import ClusterSettings
    from steersman_cluster.commands.session.runner import run_session
    from steersman_cluster.commands.session.session import DevOptions

    operator = find_operator(target, directory=Path.cwd())
    project_samples = operator.directory / "samples"
    if samples and not project_samples.is_dir():
        raise click.UsageError(
            f"the directory {project_samples.name} does not exist; name a file"
            " or a directory with --apply"
        )
    options = DevOptions(
        target=operator.target,
        directory=operator.directory,
        sources=operator.sources,
        cluster=ClusterSettings(
            port=port, kubeconfig=kubeconfig, data=data, even_in_a_cluster=force
        ),
        nodes=nodes,
        samples=(*files, project_samples) if samples else files,
        for_seconds=for_seconds,
        log_level=log_level,
        hint="There are no objects of its kinds yet: use --samples, or apply one with kubectl."
        if project_samples.is_dir()
        else "There are no objects of its kinds yet: apply one with kubectl.",
    )
    asyncio.run(
        run_session(
            options,
            clock=SystemClock(),
            rng=SystemRandom(),
            environ=os.environ,
            out=sys.stdout,
            err=sys.stderr,
        )
    )
