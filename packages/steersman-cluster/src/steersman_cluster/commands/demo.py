"""``steersman demo``: an example operator, which requires no other program or cluster."""

import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _examples(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    from steersman_cluster.demos import examples

    return [CompletionItem(each) for each in examples() if each.startswith(incomplete)]


@click.command(
    epilog="""\b
Examples:
  steersman demo
  steersman demo --list
  steersman demo robot --pause 0.5 | tee demo.log
"""
)
@click.argument("name", default="appservice", shell_complete=_examples)
@click.option(
    "--pause",
    "pause_seconds",
    type=click.FloatRange(min=0),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Pause after each step.",
)
@click.option("--list", "is_listing", is_flag=True, help="List the examples.")
def demo(name: str, pause_seconds: float, is_listing: bool) -> None:
    """Run an example operator and show what it does.

    Runs the example NAME (default: appservice) on an embedded cluster for less than a minute. The
    demo creates, changes and deletes objects, and shows how the operator reacts.
    """
    import asyncio
    from random import SystemRandom

    from steersman.cli import load_object
    from steersman.clock import SystemClock
    from steersman_cluster.apiserver import ClusterSettings
    from steersman_cluster.commands.session.demo_run import DemoOptions
    from steersman_cluster.commands.session.runner import run_session
    from steersman_cluster.commands.session.session import DevOptions, shown_path
    from steersman_cluster.demos import Demo, examples, find_example

    target = "demo.py:demo"
    if is_listing:
        longest = max(map(len, examples()), default=0)
        for each, directory in examples().items():
            title = load_object(target, Demo, directory=directory).title
            click.echo(f"{each:<{longest}}  {title}")
        return
    directory = find_example(name)
    options = DevOptions(
        command="demo",
        target=target,
        name=name,
        directory=directory,
        sources=(),
        cluster=ClusterSettings(),
        nodes=2,
        hint="There are no objects of its kinds.",
        log_level="error",  # the rest of its log is shown anyway
        demo=DemoOptions(
            demo=load_object(target, Demo, directory=directory),
            directory=directory,
            pause_seconds=pause_seconds,
        ),
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
    click.echo(
        f"The example is in {shown_path(directory)}; `steersman demo --list` lists the others.",
        err=True,
    )
