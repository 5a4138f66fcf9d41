"""How the API server hears of a kind: by the CustomResourceDefinition that is made from its class.

    python -m examples.installing --kubeconfig FILE

installs AppService, for ``python -m examples.appservice`` to work on.
"""

import asyncio
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from random import Random

import steersman as sm
from examples.appservice import AppService
from steersman.client import Client, connect, find_config, wait_for
from steersman.clock import SystemClock
from steersman.manifests import crd_of
from steersman.observe import log_to


async def install(client: Client, kind: type[sm.Resource]) -> None:
    """Tell the API server about the kind, and wait until it serves it."""
    crd = await client.apply(crd_of(kind), field_manager="examples")
    await wait_for(client, type(crd), crd.name, sm.is_ready, within_seconds=10)


async def main(kubeconfig: Path | None) -> None:
    """Install AppService on the cluster that the kubeconfig leads to."""
    clock = SystemClock()
    observe = log_to(sys.stderr, clock=clock)
    config = find_config(
        environ=os.environ, home=Path.home(), observe=observe, kubeconfig=kubeconfig
    )
    async with connect(config, clock=clock, rng=Random(), observe=observe) as client:
        await install(client, AppService)


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m examples.installing", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, help="default: where kubectl looks")
    asyncio.run(main(parser.parse_args().kubeconfig))
