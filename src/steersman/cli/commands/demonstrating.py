"""``steersman demo``: an example operator at work, without anything else to be there."""

import os
import sys
from pathlib import Path

import click


@click.command(
    epilog="""\b
Examples:
  steersman demo
  steersman demo --pause 0.5 | tee story
"""
)
@click.option(
    "--pause",
    "pause_seconds",
    type=click.FloatRange(min=0),
    default=2.5,
    show_default=True,
    metavar="SECONDS",
    help="How long to look at each step.",
)
def demo(pause_seconds: float) -> None:
    """Watch an example operator at work.

    On a cluster of its own, in a story of half a minute: an AppService is created, scaled, meddled
    with, updated and deleted. The operator is steersman.cli.demo_appservice, in forty lines.
    """
    import asyncio
    from functools import partial
    from random import SystemRandom

    from steersman.apiserver import ClusterSettings
    from steersman.cli.demo import TARGET, Story
    from steersman.cli.desk import Development
    from steersman.cli.developing import develop
    from steersman.clock import SystemClock

    clock = SystemClock()
    what = Development(
        command="demo",
        target=TARGET,
        directory=Path.cwd(),
        sources=(),
        cluster=ClusterSettings(),
        nodes=2,
        hint="",
        story=partial(Story, clock=clock, pause_seconds=pause_seconds),
    )
    asyncio.run(
        develop(
            what,
            clock=clock,
            rng=SystemRandom(),
            environ=os.environ,
            out=sys.stdout,
            err=sys.stderr,
        )
    )
