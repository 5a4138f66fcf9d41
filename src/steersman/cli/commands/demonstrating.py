"""``steersman demo``: an example operator at work, without anything else to be there."""

import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _some_example(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    from steersman.demos import examples

    return [CompletionItem(each) for each in examples() if each.startswith(incomplete)]


@click.command(
    epilog="""\b
Examples:
  steersman demo
  steersman demo --list
  steersman demo robot --pause 0.5 | tee story
"""
)
@click.argument("name", default="appservice", shell_complete=_some_example)
@click.option(
    "--pause",
    "pause_seconds",
    type=click.FloatRange(min=0),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to look at each step.",
)
@click.option("--list", "is_listing", is_flag=True, help="Say which examples there are.")
def demo(name: str, pause_seconds: float, is_listing: bool) -> None:
    """Watch an example operator at work.

    On a cluster of its own, in a story of less than half a minute: people create its objects,
    change them, break what it made of them, and delete them. NAME is the example; without one, it
    is appservice.
    """
    import asyncio
    from random import SystemRandom

    from steersman.apiserver import ClusterSettings
    from steersman.cli.demo import Showing
    from steersman.cli.desk import Development
    from steersman.cli.developing import develop
    from steersman.cli.paths import shown_path
    from steersman.cli.targets import load_demo
    from steersman.clock import SystemClock
    from steersman.demos import examples, find_example

    target = "demo.py:demo"
    if is_listing:
        longest = max(map(len, examples()), default=0)
        for each, directory in examples().items():
            title = load_demo(target, directory=directory).title
            click.echo(f"{each:<{longest}}  {title}")
        return
    directory = find_example(name)
    what = Development(
        command="demo",
        target=target,
        name=name,
        directory=directory,
        sources=(),
        cluster=ClusterSettings(),
        nodes=2,
        hint="Nothing of its kinds is there.",
        log_level="error",  # what else it would log is told anyway
        showing=Showing(
            demo=load_demo(target, directory=directory),
            directory=directory,
            pause_seconds=pause_seconds,
        ),
    )
    asyncio.run(
        develop(
            what,
            clock=SystemClock(),
            rng=SystemRandom(),
            environ=os.environ,
            out=sys.stdout,
            err=sys.stderr,
        )
    )
    click.echo(
        f"Its operator is in {shown_path(directory)}; `steersman demo --list` names the others.",
        err=True,
    )
